"""The floors of the house: imports point down, and there is no circle."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import parsed

ROOT = Path(__file__).parents[1]
CORE = ROOT / "framework" / "src" / "quaymaster"
PAGE = ROOT / "docs" / "explanation" / "architecture.md"

FLOORS = (
    # What has no subject of ours: texts, words, errors.
    {
        "_errors",
        "_garbage",
        "_gunzip",
        "_logs",
        "_raised",
        "_suggestions",
        "_input",
        "_https",
    },
    {"_notices", "_serving", "_versions"},
    {"_objects"},
    {"_state", "_cel"},
    {"_contract", "_volumes"},
    {"_registry", "_indexes", "_preemption", "_devices"},
    {"_config"},
    {"_runtime", "_extenders", "_openapi"},
    {"_cycle", "_queue", "_inmemory", "_manifests", "_kubernetes"},
    {"_memo", "_binding", "_mutations", "_election"},
    {"_engine", "_driver"},
    {"_simulation", "_testing", "_extender_server", "_perf", "_operation", "_deploy"},
    # What is asked of simulations.
    {"_changes", "_capacity", "_why", "_recording", "_reproducing"},
    {"_planning", "_scenarios", "_comparing"},
    {"_reporting", "_service", "_experiments"},
    {"_packages", "_gym", "_tuning"},
    {"_cli"},
    {"__main__"},
)
"""The rooms from the ground up. A room imports from floors below its own."""

ROOMS = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(CORE).with_suffix("").parts[0]


def private_files() -> Iterator[Path]:
    """The files of all rooms; the public modules are the front door around them."""
    for path in CORE.rglob("*.py"):
        if room_of(path).startswith("_") and room_of(path) != "__init__":
            yield path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            package, *inner = node.module.split(".")
            if package == "quaymaster":
                yield from inner[:1] or (alias.name for alias in node.names)


def test_every_room_has_its_floor() -> None:
    assert {room_of(path) for path in private_files()} == set(ROOMS)


def named_in(heading: str) -> list[set[str]]:
    """What a table of the page names, row by row."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    names = [re.findall(r"`([\w.]+)`", row) for row in rows]
    return [set(row) for row in names]


def test_page_of_the_architecture_has_every_floor() -> None:
    shown = named_in("The floors")
    rooms = [{name.removesuffix(".py") for name in names} for names in shown]
    assert [names & set(ROOMS) for names in rooms] == [*reversed(FLOORS)]


def test_page_of_the_architecture_has_every_public_module() -> None:
    public = {f"quaymaster.{path.stem}" for path in CORE.glob("[!_]*.py")}
    assert set().union(*named_in("The front door")) >= public


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_room_imports_from_floors_below(room: str) -> None:
    for path in private_files():
        if room_of(path) != room:
            continue
        for other in set(imported(path)) - {room}:
            assert other in ROOMS, f"{path.name} goes through the front door: {other}"
            assert ROOMS[other] < ROOMS[room], (path.name, other)


def test_private_package_has_no_second_door() -> None:
    """Modules are imported where a name is defined.

    `_objects` has all classes of the API, `_cli` the command, `_memo` its assembly.
    """
    for path in CORE.rglob("_*/__init__.py"):
        if path.parent.name not in ("_objects", "_cli", "_memo"):
            [description] = parsed(path).body
            assert isinstance(description, ast.Expr), path
