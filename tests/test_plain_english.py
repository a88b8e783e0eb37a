"""Pages and modules have none of the phrases and names that the guide rejects.

CONTRIBUTING.md has the guide. A word list does not replace reading.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import ROOT
from tests.plain_english import offences

pytestmark = pytest.mark.house

OLD_PACKAGES = ROOT / "tests" / "compatibility"
"""Its folders are packages of earlier versions, which are never edited."""

MADE = ROOT / "docs" / "reference" / "api"
"""The site writes these pages, from docstrings that are read as modules."""


def files() -> Iterator[Path]:
    """Yield the pages and modules, except old packages and pages of the site."""
    for folder in ("docs", "framework", "plugins", "profiles", "tests"):
        for suffix in ("py", "md"):
            for path in (ROOT / folder).rglob(f"*.{suffix}"):
                if OLD_PACKAGES not in path.parent.parents and MADE not in path.parents:
                    yield path
    yield ROOT / "README.md"


def test_phrases_and_names_that_the_guide_rejects_do_not_return() -> None:
    found = [str(offence) for path in files() for offence in offences(path)]
    assert found == []


def test_no_file_has_the_marks_of_a_failed_merge() -> None:
    mark = re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)
    found = [path.name for path in files() if mark.search(path.read_text())]
    assert found == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("page.md", "It tells the queue.\n", "tells"),
        ("comment.py", "x = 1  # nobody reads it\n", "nobody"),
        ("docstring.py", 'def f():\n    """What is known."""\n', "is known"),
        ("told.py", "x = 1\n", "the module's name 'told'"),
        ("variable.py", "one = 1\n", "the name 'one'"),
        ("loop.py", "for one in x:\n    pass\n", "the name 'one'"),
        ("tuple.py", "one, x = y\n", "the name 'one'"),
        ("context.py", "with x as one:\n    pass\n", "the name 'one'"),
        ("lambda.py", "x = lambda _told: 1\n", "the name '_told'"),
        ("argument.py", "def f(told: int) -> None: ...\n", "the name 'told'"),
        ("function.py", "async def f(*, news=()): ...\n", "the name 'news'"),
        ("class.py", "class _Standing: ...\n", "the name '_Standing'"),
    ],
)
def test_a_planted_phrase_or_name_is_found(
    name: str, text: str, found: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [offence.text for offence in offences(path)] == [found]


def test_only_packages_of_old_versions_are_left_out() -> None:
    left_out = {path.parent for path in OLD_PACKAGES.glob("*/pyproject.toml")}
    modules = set(OLD_PACKAGES.rglob("*.py")) - set(files())
    assert left_out
    assert all(left_out & set(module.parents) for module in modules)
