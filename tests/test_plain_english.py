"""Pages and modules have none of the phrases and names that the guide rejects.

CONTRIBUTING.md has the guide. A word list does not replace reading.
"""

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


def test_only_packages_of_old_versions_are_left_out() -> None:
    left_out = {path.parent for path in OLD_PACKAGES.glob("*/pyproject.toml")}
    modules = set(OLD_PACKAGES.rglob("*.py")) - set(files())
    assert left_out
    assert all(left_out & set(module.parents) for module in modules)
