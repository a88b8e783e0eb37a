"""Pages and modules have none of the phrases and names that the guide rejects.

CONTRIBUTING.md has the guide. A word list does not replace reading.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import ROOT
from tests.plain_english import offences

pytestmark = pytest.mark.house

CORE = "framework/src/quaymaster"
NOT_YET: tuple[str, ...] = ("tests",)
"""Files and folders that still have some; what has none leaves the list."""


def files() -> Iterator[Path]:
    """The pages and modules of the repository."""
    for folder in ("docs", "framework", "plugins", "profiles", "tests"):
        for suffix in ("py", "md"):
            yield from (ROOT / folder).rglob(f"*.{suffix}")
    yield ROOT / "README.md"


def is_pending(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / folder) for folder in NOT_YET)


def test_phrases_and_names_that_the_guide_rejects_do_not_return() -> None:
    found = [
        str(offence)
        for path in files()
        if not is_pending(path)
        for offence in offences(path)
    ]
    assert found == []


@pytest.mark.parametrize("folder", NOT_YET)
def test_folder_that_is_plain_leaves_the_list(folder: str) -> None:
    root = ROOT / folder
    paths = [root] if root.is_file() else [*root.rglob("*.py"), *root.rglob("*.md")]
    assert any(any(offences(path)) for path in paths)
