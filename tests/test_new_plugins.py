"""Packages of ``plugins new`` pass all checks, for every subset of points."""

import itertools
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import check_plugin, clusters, nodes, pods
from tests.kit.fresh import FreshEnvironment
from tests.kit.internals.packages import (
    POINTS,
    PluginNames,
    Scaffold,
    package_files,
)
from tests.kit.nightly import with_rest_at_night
from tests.kit.profiles import fewer

NAMES = PluginNames("ZoneGate")
LONGEST = PluginNames("Gate" + "x" * 35)
TEXTS = ("", "1", "2", "high")
LEVELS = [{"labels": {"example.com/level": text}} for text in TEXTS]
FEW = {
    "few": ("filter", "score"),
    "some": ("queueSort", "reserve", "bind"),
    "all": tuple(POINTS),
}
STEP = 14
"""The long suite writes one of so many packages; the nightly one writes all."""


def subsets(sizes: Iterable[int]) -> Iterator[Sequence[str]]:
    for size in sizes:
        yield from itertools.combinations(POINTS, size)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def plugin_in(files: Mapping[str, str], names: PluginNames) -> type:
    """Return the plugin of a package that is not installed."""
    module = ModuleType(names.words)
    path = f"src/{names.package}/plugin.py"
    exec(compile(files[path], path, "exec"), vars(module))
    plugin: type = getattr(module, names.plugin)
    return plugin


def loads(plugin: type, points: Collection[str]) -> None:
    registered = PluginRegistry.of({"Plugin": plugin})["Plugin"]
    assert registered.error is None, points
    found = [point.key for point in registered.extension_points if point.key]
    assert found == list(points)


def ruff(*arguments: str, folder: Path) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "."]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def check_all(folder: Path, chosen: Iterable[Collection[str]]) -> None:
    """Check the code of many packages as one."""
    for number, points in enumerate(chosen):
        names = LONGEST if number % 2 else NAMES
        files = package_files(names, points)
        loads(plugin_in(files, names), points)
        numbered = {
            path.replace(".py", f"_{number}.py"): text
            for path, text in files.items()
            if path.endswith(("/plugin.py", f"/test_{names.words}.py")) or not number
        }
        write(folder, numbered)
    ruff("check", folder=folder)
    ruff("format", "--check", folder=folder)


def check_contract(points: Collection[str]) -> None:
    drawn = clusters(nodes=nodes(*LEVELS), pods=pods(*LEVELS))
    check_plugin(plugin_in(package_files(NAMES, points), NAMES), clusters=drawn)


@pytest.mark.long
@pytest.mark.parametrize("names", [NAMES, LONGEST], ids=["usual", "long"])
@pytest.mark.parametrize(
    "scaffold",
    [Scaffold(kind="K" + "y" * 29, profiles=2), Scaffold(data="http", profiles=2)],
    ids=["kind", "http"],
)
def test_code_of_scaffolds_is_clean(
    names: PluginNames, scaffold: Scaffold, tmp_path: Path
) -> None:
    write(tmp_path, package_files(names, FEW["few"], scaffold))
    ruff("check", folder=tmp_path)
    ruff("format", "--check", folder=tmp_path)


@pytest.mark.long
def test_code_for_few_points_and_for_all_is_clean_and_loads(tmp_path: Path) -> None:
    check_all(tmp_path, subsets([1, 2, len(POINTS)]))


@pytest.mark.long
@pytest.mark.parametrize(
    "points",
    [["filter", "score"], ["filter", "permit"], POINTS],
    ids=["few", "pair", "all"],
)
def test_plugin_keeps_the_contract(points: Collection[str]) -> None:
    check_contract(points)


@pytest.mark.long
def test_code_for_many_subsets_of_points_is_clean_and_loads(tmp_path: Path) -> None:
    every = subsets(range(1, len(POINTS) + 1))
    check_all(tmp_path, itertools.islice(every, 0, None, STEP))


@pytest.mark.nightly
def test_code_for_every_subset_of_points_is_clean_and_loads(tmp_path: Path) -> None:
    check_all(tmp_path, subsets(range(1, len(POINTS) + 1)))


@pytest.fixture
def fewer_examples() -> Iterator[None]:
    """Try a quarter of the examples: 25 plugins come from one template."""
    usual = settings.get_current_profile_name()
    settings.register_profile("quarter", fewer(4))
    settings.load_profile("quarter")
    yield
    settings.load_profile(usual)


@pytest.mark.long
@pytest.mark.usefixtures("fewer_examples")
@pytest.mark.parametrize(
    "points", list(subsets([1, len(POINTS) - 1, len(POINTS)])), ids="-".join
)
def test_plugins_for_one_point_and_for_all_but_one_keep_the_contract(
    points: Sequence[str],
) -> None:
    check_contract(points)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "scaffold",
    [Scaffold(kind="Berth", profiles=2), Scaffold(data="http", profiles=2)],
    ids=["kind", "http"],
)
def test_new_package_of_a_scaffold_is_green_in_a_fresh_environment(
    scaffold: Scaffold, tmp_path: Path
) -> None:
    environment = FreshEnvironment(tmp_path / "environment")
    package = tmp_path / "package"
    files = package_files(PluginNames("Gate1"), FEW["few"], scaffold)
    write(package, files)
    environment.install(package)
    environment.check(package)


@pytest.mark.parametrize(
    "points",
    with_rest_at_night([(name,) for name in FEW], FEW, nightly=["few", "some"]),
)
def test_new_package_is_green_in_a_fresh_environment(
    points: str, tmp_path: Path
) -> None:
    environment = FreshEnvironment(tmp_path / "environment")
    package = tmp_path / "package"
    write(package, package_files(PluginNames("Gate0"), FEW[points]))
    environment.install(package)
    environment.check(package)
