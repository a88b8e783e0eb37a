"""Nine groups of packages: imports point down, without cycles."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.kit.sources import CORE, ROOT, parsed, syntax_nodes

pytestmark = pytest.mark.house

PAGE = ROOT / "docs" / "explanation" / "architecture.md"

GROUPS: Mapping[str, Sequence[set[str]]] = {
    "_base": (
        {"block_lines", "callback_names", "displayed", "gunzip", "missing_packages"},
        {
            "errors",
            "garbage",
            "files",
            "https",
            "input",
            "lazy_names",
            "natural_order",
            "raised",
        },
        {"logs", "notices", "serving", "suggestions", "yaml_text"},
        {"versions"},
    ),
    "_api": ({"objects"}, {"cel", "openapi"}),
    "_core": (
        {"state"},
        {"contract"},
        {"registry"},
        {"config"},
        {"extenders", "runtime"},
        {"cycle", "queue"},
        {"binding", "memo", "mutations"},
        {"groups"},
        {"engine"},
    ),
    "_kits": ({"devices", "indexes", "preemption", "volumes"},),
    "_clusters": ({"inmemory", "kubernetes", "manifests"}, {"election"}, {"driver"}),
    "_authors": ({"testing", "types_of_hooks"}, {"packages"}),
    "_studies": (
        {"simulation"},
        {
            "autoscaling",
            "capacity",
            "changes",
            "perf",
            "recording",
            "reproducing",
            "why",
        },
        {"comparing", "planning", "scenarios"},
        {"experiments"},
        {"gym", "tuning"},
    ),
    "_surfaces": (
        {"deploy", "extender_server", "operation"},
        {"reporting", "service"},
    ),
    "_cli": (),
}
"""The groups from the ground up; in each, floors of packages from the ground up.

A group imports from groups before it; a package from floors of its own group before its
own. Some packages of a group are used by lower floors of another one.
"""

FLOORS = {
    (group, package): floor
    for group, floors in GROUPS.items()
    for floor, packages in enumerate(floors)
    for package in packages
}


def private_files() -> Iterator[Path]:
    """Yield the files of all groups; the public modules re-export from them."""
    for group in GROUPS:
        yield from (CORE / group).rglob("*.py")


def package_of(path: Path) -> tuple[str, str]:
    """Return the group of a file, and its package or module in there."""
    group, *inner = path.relative_to(CORE).with_suffix("").parts
    return group, inner[0]


def imported(path: Path) -> Iterator[tuple[str, str]]:
    for node in syntax_nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            distribution, *inner = node.module.split(".")
            if distribution == "quaymaster":
                group, package = [*inner, "", ""][:2]
                yield group, package or node.names[0].name


def test_there_are_nine_groups_and_each_package_has_its_floor() -> None:
    private = {path.name for path in CORE.glob("_[a-z]*") if path.name != "_profiles"}
    assert private == {*GROUPS}
    for group, floors in GROUPS.items():
        entries = (CORE / group).glob("[!_]*")
        packages = {path.stem for path in entries if path.suffix in ("", ".py")}
        assert not floors or packages == set().union(*floors), group


def test_groups_import_from_groups_below() -> None:
    order = [*GROUPS]
    offenders = [
        f"{path.relative_to(CORE)} imports quaymaster.{group}"
        for path in private_files()
        for group, _ in imported(path)
        if group not in order or order.index(group) > order.index(package_of(path)[0])
    ]
    assert offenders == []


def test_packages_import_from_floors_below_in_their_group() -> None:
    offenders = [
        f"{path.relative_to(CORE)} imports quaymaster.{group}.{package}"
        for path in private_files()
        for group, package in imported(path)
        if (own := package_of(path)) in FLOORS
        and group == own[0]
        and package != own[1]
        and FLOORS[group, package] >= FLOORS[own]
    ]
    assert offenders == []


def named_in(heading: str) -> list[set[str]]:
    """Return the names in the rows of a table of the page."""
    section = PAGE.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    names = [re.findall(r"`([\w.]+)`", row) for row in rows]
    return [set(row) for row in names]


def test_page_of_the_architecture_has_every_group_and_package() -> None:
    shown = dict(zip(GROUPS, named_in("The nine groups"), strict=True))
    for group, floors in GROUPS.items():
        assert shown[group] >= {group, *set().union(*floors)}


def test_page_of_the_architecture_has_every_public_module() -> None:
    public = {f"quaymaster.{path.stem}" for path in CORE.glob("[!_]*.py")}
    assert set().union(*named_in("The front door")) >= public


def test_private_package_has_no_second_door() -> None:
    """Modules are imported where a name is defined.

    `_api/objects` has all classes of the API, `_cli` the command, `_core/memo` its
    assembly.
    """
    offenders = []
    for path in CORE.rglob("_*/**/__init__.py"):
        is_door = path.parent.name in ("objects", "_cli", "memo")
        if not is_door and not is_described(path):
            offenders.append(str(path.relative_to(CORE)))
    assert offenders == []


def is_described(path: Path) -> bool:
    """Whether a file has a docstring and nothing else."""
    body = parsed(path).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)
