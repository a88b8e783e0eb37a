"""What ``plugins new`` makes is green at once, for every subset of points."""

import itertools
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from quaymaster.testing import check_plugin, clusters, nodes, pods
from tests.kit.fresh import FreshEnvironment
from tests.kit.internals.packages import POINTS, PluginNames, package_files

NAMES = PluginNames("ZoneGate")
LONGEST = PluginNames("Gate" + "x" * 35)
MODULE = "src/quaymaster_zone_gate/plugin.py"
LEVELS = [{"labels": {"example.com/level": level}} for level in ("1", "2", "high")]
FEW = [("filter", "score"), ("queueSort", "reserve", "bind"), tuple(POINTS)]


def subsets(sizes: Iterable[int]) -> Iterator[Sequence[str]]:
    for size in sizes:
        yield from itertools.combinations(POINTS, size)


def plugin_for(points: Collection[str]) -> type:
    module = ModuleType("zone_gate")
    exec(compile(package_files(NAMES, points)[MODULE], MODULE, "exec"), vars(module))
    plugin: type = module.ZoneGate
    return plugin


def write(folder: Path, names: PluginNames, points: Collection[str]) -> None:
    for path, text in package_files(names, points).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def ruff(*arguments: str, folder: Path) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "."]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def write_all(folder: Path, chosen: Iterable[Collection[str]]) -> None:
    for number, points in enumerate(chosen):
        write(folder / str(number), LONGEST if number % 2 else NAMES, points)


def check_all(folder: Path, chosen: Iterable[Collection[str]]) -> None:
    write_all(folder, chosen)
    ruff("check", folder=folder)
    ruff("format", "--check", folder=folder)


def check_contract(points: Collection[str]) -> None:
    drawn = clusters(nodes=nodes(*LEVELS), pods=pods(*LEVELS))
    check_plugin(plugin_for(points), clusters=drawn)


def test_code_for_few_points_and_for_all_is_clean(tmp_path: Path) -> None:
    check_all(tmp_path, subsets([1, 2, len(POINTS)]))


def test_plugin_keeps_the_contract() -> None:
    check_contract(["filter", "score"])


@pytest.mark.long
def test_code_for_every_subset_of_points_is_clean(tmp_path: Path) -> None:
    check_all(tmp_path, subsets(range(1, len(POINTS) + 1)))


@pytest.mark.long
def test_plugins_for_one_point_and_for_all_but_one_keep_the_contract() -> None:
    for points in subsets([1, len(POINTS) - 1, len(POINTS)]):
        check_contract(points)


@pytest.mark.long
def test_new_packages_are_green_in_a_fresh_environment(tmp_path: Path) -> None:
    environment = FreshEnvironment(tmp_path / "environment")
    for number, points in enumerate(FEW):
        package = tmp_path / str(number)
        write(package, PluginNames(f"Gate{number}"), points)
        environment.install(package)
        environment.check(package)
