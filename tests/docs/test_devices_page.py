"""The page about devices names every feature gate of theirs, with its default."""

import re

import pytest

from tests.kit.internals.versions import V1_36
from tests.kit.sources import ROOT

pytestmark = pytest.mark.house

PAGE = ROOT / "docs" / "reference" / "devices.md"


def test_gates_are_those_of_the_version() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (on|off) \|", PAGE.read_text(), re.MULTILINE)
    theirs = {
        gate: "on" if is_on else "off"
        for gate, is_on in V1_36.feature_gates.items()
        if gate.startswith("DRA") or gate == "DynamicResourceAllocation"
    }
    assert dict(rows) == theirs
