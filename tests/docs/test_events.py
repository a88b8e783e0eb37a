"""The page of events names all events."""

import re

import pytest

from quaymaster import ActionType, EventResource
from tests.kit.sources import ROOT

pytestmark = pytest.mark.house

TEXT = (ROOT / "docs" / "reference" / "events.md").read_text(encoding="utf-8")
CODE = frozenset(re.findall(r"`([^`]+)`", TEXT))


def test_each_resource_is_named() -> None:
    resources = EventResource.__members__.values()
    assert [resource for resource in resources if resource.value not in CODE] == []


def is_described(action: ActionType) -> bool:
    rows = [line for line in TEXT.splitlines() if f"`{action.name}`" in line]
    return any(f"`{action.label}`" in row for row in rows)


def test_each_action_is_named_with_its_label() -> None:
    actions = ActionType.__members__.values()
    assert [action for action in actions if not is_described(action)] == []
