"""The page about versions lists the feature gates that control fields."""

import re
from pathlib import Path

import pytest

from quaymaster.config import Kubernetes
from tests.kit.field_objects import field_places
from tests.kit.internals.openapi import FieldTable, field_table
from tests.kit.sources import ROOT

pytestmark = pytest.mark.house

PAGE: Path = ROOT / "docs" / "reference" / "kubernetes-versions.md"
VERSIONS = ("1.36", "1.37")
ROW = re.compile(r"^\| `(\w+)` \| (-|off|on) \| (-|off|on) \|", re.MULTILINE)


def disabled_gates(table: FieldTable) -> set[str]:
    """Return the gates of fields that are off in a version."""
    return {
        table.gate_of(place.structure, place.field)
        for kind in table.kinds
        for place in field_places(table, kind, through=table)
    } - {""}


@pytest.mark.parametrize("number", range(len(VERSIONS)))
def test_page_has_every_gate_that_is_off_by_default(number: int) -> None:
    section = PAGE.read_text().partition("## Fields of the API\n")[2]
    rows = ROW.findall(section.partition("\n## ")[0])
    shown = {gate for gate, *values in rows if values[number] == "off"}
    assert shown == disabled_gates(field_table(Kubernetes(VERSIONS[number])))
