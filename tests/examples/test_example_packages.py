"""The packages of docs/examples, each installed from its wheel as anybody would."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.kit.fresh import FreshEnvironment

ROOT = Path(__file__).parents[2]
PACKAGES = [
    path.parent for path in sorted((ROOT / "docs/examples").glob("*/pyproject.toml"))
]

_MANIFESTS = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_tests_of_all_packages_are_run() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = {f"{package.relative_to(ROOT).as_posix()}/src" for package in PACKAGES}
    assert found == set(settings["tool"]["pytest"]["pythonpath"]) - {"."}


@pytest.mark.long
@pytest.mark.parametrize(
    "package", [pytest.param(package, id=package.name) for package in PACKAGES]
)
def test_package_is_green_in_a_fresh_environment(package: Path, tmp_path: Path) -> None:
    environment = FreshEnvironment(tmp_path / "environment")
    copy = environment.copy(package)
    environment.install(copy)
    environment.check(copy)


@pytest.mark.long
@pytest.mark.parametrize(
    "package", [pytest.param(package, id=package.name) for package in PACKAGES]
)
def test_objects_of_the_readme_are_placed(package: Path, tmp_path: Path) -> None:
    environment = FreshEnvironment(tmp_path / "environment")
    copy = environment.copy(package)
    environment.install(copy)
    found = _MANIFESTS.search((copy / "README.md").read_text(encoding="utf-8"))
    assert found is not None, "the README shows no manifests"
    (copy / "pods.yaml").write_text(found[1], encoding="utf-8")
    simulate = "quaymaster simulate pods.yaml --nodes 4:cpu=4,memory=16Gi"
    options = "--config profile.yaml --require-all --strict"
    printed = environment.run(*simulate.split(), *options.split(), folder=copy)
    assert " placed on 4 nodes, 0 unscheduled" in printed
