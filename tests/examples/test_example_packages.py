"""The packages of docs/examples work when they are installed from their wheels."""

import re
import tomllib
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.kit.fresh import FreshEnvironment

ROOT = Path(__file__).parents[2]
PACKAGES = [
    path.parent for path in sorted((ROOT / "docs/examples").glob("*/pyproject.toml"))
]
AT_NIGHT = {"capacity-scheduling", "learned-policy", "openb", "order"}
"""Packages that the long tests leave to the nightly ones, with 13 to 19 CPU seconds
each. The quick and the long tests play their own tests in the environment of the
workspace.
"""

_MARK = re.compile(r"pytest\.mark\.(\w+)")
_MARKS_OF_PYTEST = {"filterwarnings", "parametrize", "skip", "skipif", "usefixtures"}

_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w-]+\.(?:go|py|ya?ml)\b")

_MANIFESTS = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.house
def test_the_tests_of_all_packages_are_run() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {f"{package.relative_to(ROOT).as_posix()}/src" for package in PACKAGES}
    assert found == set(settings["tool"]["pytest"]["pythonpath"]) - {"."}


def marks_declared_by(package: Path) -> set[str]:
    settings = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    return {mark.partition(":")[0] for mark in options.get("markers", ())}


def marks_used_in(package: Path) -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("test_*.py")]
    return {mark for text in texts for mark in _MARK.findall(text)} - _MARKS_OF_PYTEST


@pytest.mark.house
def test_packages_declare_the_marks_of_their_tests() -> None:
    declared = {package.name: marks_declared_by(package) for package in PACKAGES}
    assert declared == {package.name: marks_used_in(package) for package in PACKAGES}


@pytest.mark.house
def test_files_that_a_readme_names_are_there() -> None:
    missing = [
        (package.name, file)
        for package in PACKAGES
        for code in _CODE.findall((package / "README.md").read_text(encoding="utf-8"))
        for file in _FILE.findall(code)
        if file not in {path.name for path in package.rglob("*")}
    ]
    assert missing == []


def _param(package: Path) -> ParameterSet:
    marks = pytest.mark.nightly if package.name in AT_NIGHT else ()
    return pytest.param(package, id=package.name, marks=marks)


@pytest.fixture(scope="module", params=[_param(package) for package in PACKAGES])
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[FreshEnvironment, Path]:
    """Return an environment with a package, and a copy of the package's folder."""
    environment = FreshEnvironment(tmp_path_factory.mktemp("environment"))
    copy = environment.copy(request.param)
    environment.install(copy)
    return environment, copy


@pytest.mark.long
def test_package_is_green_in_a_fresh_environment(
    installed: tuple[FreshEnvironment, Path],
) -> None:
    environment, package = installed
    environment.check_tests(package)


@pytest.mark.nightly
def test_package_passes_all_checks_in_a_fresh_environment(
    installed: tuple[FreshEnvironment, Path],
) -> None:
    environment, package = installed
    environment.check(package)


@pytest.mark.nightly
def test_package_passes_plugins_check(installed: tuple[FreshEnvironment, Path]) -> None:
    environment, package = installed
    printed = environment.run("quaymaster", "plugins", "check", ".", folder=package)
    assert "all is well" in printed


@pytest.mark.long
def test_objects_of_the_readme_are_placed(
    installed: tuple[FreshEnvironment, Path],
) -> None:
    environment, package = installed
    found = _MANIFESTS.search((package / "README.md").read_text(encoding="utf-8"))
    assert found is not None, "the README shows no manifests"
    (package / "pods.yaml").write_text(found[1], encoding="utf-8")
    simulate = "quaymaster simulate pods.yaml --nodes 4:cpu=4,memory=16Gi"
    options = "--config profile.yaml --require-all --strict"
    printed = environment.run(*simulate.split(), *options.split(), folder=package)
    assert " placed on 4 nodes, 0 unscheduled" in printed
