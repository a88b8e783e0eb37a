"""The files and classes that the architecture page names are at these places."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[2]
CORE = ROOT / "framework" / "src" / "quaymaster"
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")

PATHS = sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE)))
NAMES = sorted(set(re.findall(r"`(\w+)(?:\.\w+)?` in `([\w/]+\.py)`", PAGE)))
ROOMS = sorted(set(re.findall(r"`(_[a-z_/]+)`", PAGE)))


def files(path: str) -> list[Path]:
    """Return the files that the page names, also without the folder of the section."""
    places = (ROOT / path, CORE / path)
    return [each for each in places if each.is_file()] or [
        *CORE.glob(f"_*/{path}"),
        *CORE.glob(f"_*/*/{path}"),
        *CORE.glob(f"_*/*/*/{path}"),
    ]


def is_defined(name: str, path: str) -> bool:
    """Whether a file has a definition of a name."""
    definition = re.compile(rf"^(?:class |def )?{name}\b", re.MULTILINE)
    texts = (file.read_text(encoding="utf-8") for file in files(path))
    return any(definition.search(text) for text in texts)


def test_files_are_there() -> None:
    assert [path for path in PATHS if not files(path)] == []


def test_packages_are_there() -> None:
    assert [room for room in ROOMS if not (CORE / room).is_dir()] == []


def test_names_are_defined_in_their_files() -> None:
    assert [pair for pair in NAMES if not is_defined(*pair)] == []


def test_page_names_what_it_is_about() -> None:
    assert len(PATHS) > 20
    assert len(NAMES) > 5
    assert len(ROOMS) > 12
