"""The rules of upstream's scheduling queue: there are 39, and each has a test here.

The recorded traces in ``tests/queue`` hold the same rules in all their combinations.
"""

import ast
from pathlib import Path

import pytest

from tests.kit.sources import parsed


@pytest.mark.house
def test_every_rule_has_a_test() -> None:
    numbered = {
        node.name[10:12]
        for path in Path(__file__).parent.glob("test_queue_*.py")
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_rule_")
    }
    assert sorted(numbered) == [f"{number:02}" for number in range(1, 40)]
