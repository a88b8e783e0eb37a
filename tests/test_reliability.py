"""The page on reliability names existing tests, and names all of its own tests."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "reliability.md"
_LINK = re.compile(r"\[`(\w+)`\]\(([^)]+\.py)\)")


def rows() -> Iterator[tuple[str, str]]:
    """Yield the subject of each row of the tables, and its last cell."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[-1] != "our tests":
                yield cells[0], cells[-1]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the functions and classes at the top level of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def is_there(name: str, target: str) -> bool:
    """Whether a file that the page links to has a test."""
    path = (PAGE.parent / target).resolve()
    return path.is_file() and name in names_in(path)


def test_every_row_names_tests_or_says_what_it_waits_for() -> None:
    assert [
        row
        for row, tests in rows()
        if bool(_LINK.findall(tests)) == tests.startswith("later: ")
    ] == []


def test_every_test_of_a_row_is_there() -> None:
    missing = [
        (row, link)
        for row, tests in rows()
        for link in _LINK.findall(tests)
        if not is_there(*link)
    ]
    assert missing == []


def test_tests_of_reliability_are_all_on_the_page() -> None:
    named = {name for _, tests in rows() for name, _ in _LINK.findall(tests)}
    files = (ROOT / "framework" / "tests").rglob("test_reliability_*.py")
    own = {name for path in files for name in names_in(path) if name[:5] == "test_"}
    assert own
    assert own <= named
