"""The page of events names all of them."""

import re

import pytest

from quaymaster import ActionType, EventResource
from tests.kit.sources import ROOT

TEXT = (ROOT / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
CODE = frozenset(re.findall(r"`([^`]+)`", TEXT))


@pytest.mark.parametrize(
    "resource", [*EventResource.__members__.values()], ids=lambda one: one.name
)
def test_each_resource_is_named(resource: EventResource) -> None:
    assert resource.value in CODE


@pytest.mark.parametrize(
    "action", [*ActionType.__members__.values()], ids=lambda one: str(one.name)
)
def test_each_action_is_named_with_its_label(action: ActionType) -> None:
    rows = [line for line in TEXT.splitlines() if f"`{action.name}`" in line]
    assert any(f"`{action.label}`" in row for row in rows)
