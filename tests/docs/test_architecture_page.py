"""The architecture page names files and classes: they are where it says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "framework" / "src" / "quaymaster"
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")

PATHS = sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE)))
NAMES = sorted(set(re.findall(r"`(\w+)(?:\.\w+)?` in `([\w/]+\.py)`", PAGE)))
ROOMS = sorted(set(re.findall(r"`(_[a-z_/]+)`", PAGE)))


def files(path: str) -> list[Path]:
    """The files that a page means, which may leave out the folder it speaks of."""
    places = (ROOT / path, CORE / path)
    return [each for each in places if each.is_file()] or [
        *CORE.glob(f"_*/{path}"),
        *CORE.glob(f"_*/*/{path}"),
        *CORE.glob(f"_*/*/*/{path}"),
    ]


@pytest.mark.parametrize("path", PATHS)
def test_file_is_there(path: str) -> None:
    assert files(path)


@pytest.mark.parametrize("room", ROOMS)
def test_room_is_there(room: str) -> None:
    assert (CORE / room).is_dir()


@pytest.mark.parametrize(("name", "path"), NAMES)
def test_name_is_defined_in_the_file(name: str, path: str) -> None:
    definition = re.compile(rf"^(?:class |def )?{name}\b", re.MULTILINE)
    assert any(
        definition.search(each.read_text(encoding="utf-8")) for each in files(path)
    )


def test_page_names_what_it_is_about() -> None:
    assert len(PATHS) > 20
    assert len(NAMES) > 5
    assert len(ROOMS) > 12
