"""The page about devices names every feature gate of devices, with its defaults."""

import re

import pytest

from quaymaster.config import KUBERNETES_VERSIONS
from tests.kit.internals.versions import RELEASES
from tests.kit.sources import ROOT

pytestmark = pytest.mark.house

PAGE = ROOT / "docs" / "reference" / "devices.md"
ROW = re.compile(r"^\| `(\w+)` \| (on|off|) ?\| (on|off|) ?\|", re.MULTILINE)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_gates_are_those_of_the_version(version: str) -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    column = 1 + KUBERNETES_VERSIONS.index(version)
    theirs = {
        gate: "on" if is_on else "off"
        for gate, is_on in RELEASES[version].feature_gates.items()
        if gate.startswith("DRA") or gate == "DynamicResourceAllocation"
    }
    assert {row[0]: row[column] for row in rows if row[column]} == theirs
