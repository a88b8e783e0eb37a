"""Every member of the workspace is complete and in every list that must name it."""

import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[1]
FRAMEWORK = ROOT / "framework"
CEL = FRAMEWORK / "cel"
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
MEMBERS = [FRAMEWORK, CEL, *PLUGINS]
NAMES = {FRAMEWORK: "quaymaster", CEL: "kubernetes-cel"}


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = read_toml(folder / "pyproject.toml")["project"]
    return project


def distribution_of(folder: Path) -> str:
    words = folder.name.replace("_", "-")
    return NAMES.get(folder, f"quaymaster-{words}")


def test_there_are_plugins_and_every_folder_of_plugins_is_one() -> None:
    folders = {path for path in (ROOT / "plugins").iterdir() if any(path.rglob("*.py"))}
    assert PLUGINS
    assert folders == set(PLUGINS)


def test_root_depends_on_exactly_the_members_by_path() -> None:
    expected = {
        f"{distribution_of(folder)} @ {{root:uri}}/{folder.relative_to(ROOT)}"
        for folder in MEMBERS
    }
    dependencies = read_project(ROOT)["dependencies"]
    assert sorted(dependencies) == sorted(expected)


def test_uv_takes_exactly_the_members_from_the_workspace() -> None:
    sources = read_toml(ROOT / "pyproject.toml")["tool"]["uv"]["sources"]
    assert sources == {
        distribution_of(folder): {"workspace": True} for folder in MEMBERS
    }


def test_lock_file_holds_exactly_the_members() -> None:
    members = read_toml(ROOT / "uv.lock")["manifest"]["members"]
    expected = [distribution_of(folder) for folder in MEMBERS]
    assert sorted(members) == sorted([*expected, "quaymaster-workspace"])


def test_default_extra_holds_exactly_the_plugins() -> None:
    default = read_project(FRAMEWORK)["optional-dependencies"]["default"]
    expected = {f"{distribution_of(folder)}>=0.1,<0.2" for folder in PLUGINS}
    assert sorted(default) == sorted(expected)


def test_all_distributions_have_one_version() -> None:
    assert len({read_project(folder)["version"] for folder in [ROOT, *MEMBERS]}) == 1


def test_every_distribution_carries_the_licence() -> None:
    # A link would be part of the sdist and lead out of it.
    licence = (ROOT / "LICENSE").read_text()
    files = [folder / "LICENSE" for folder in MEMBERS]
    assert [
        file for file in files if file.is_symlink() or file.read_text() != licence
    ] == []


def test_folders_of_members_are_complete() -> None:
    missing = [
        path
        for folder in MEMBERS
        for package in [folder / "src" / distribution_of(folder).replace("-", "_")]
        for path in (
            folder / "README.md",
            package / "__init__.py",
            package / "py.typed",
        )
        if not path.is_file()
    ]
    assert missing == []


def test_every_member_has_tests() -> None:
    untested = [path for path in MEMBERS if not any(path.rglob("tests/**/test_*.py"))]
    assert untested == []


def test_projects_of_plugins_are_named_after_their_folders() -> None:
    names = {folder: read_project(folder)["name"] for folder in PLUGINS}
    assert names == {folder: distribution_of(folder) for folder in PLUGINS}


def test_plugins_depend_on_the_framework_of_their_minor_version() -> None:
    offenders = [
        folder
        for folder in PLUGINS
        if "quaymaster>=0.1,<0.2" not in read_project(folder)["dependencies"]
    ]
    assert offenders == []


def test_framework_depends_on_the_cel_of_its_minor_version() -> None:
    assert "kubernetes-cel>=0.1,<0.2" in read_project(FRAMEWORK)["dependencies"]


def test_wheel_of_the_framework_leaves_out_cel() -> None:
    build = read_toml(FRAMEWORK / "pyproject.toml")["tool"]["hatch"]["build"]
    assert build["exclude"] == ["/cel"]


def test_entry_points_name_a_class_of_their_own_name() -> None:
    offenders = []
    for folder in PLUGINS:
        entries = read_project(folder)["entry-points"]["quaymaster.plugins"]
        targets = {name: f"quaymaster_{folder.name}:{name}" for name in entries}
        words = [name.lower() for name in entries]
        if entries != targets or words != [folder.name.replace("_", "")]:
            offenders.append((folder, entries))
    assert offenders == []


def test_tests_of_a_member_need_nothing_but_what_is_installed() -> None:
    offenders = [
        path
        for folder in MEMBERS
        for path in (folder / "tests").rglob("*.py")
        if path.name in ("__init__.py", "conftest.py")
    ]
    assert offenders == []


def test_no_two_test_files_share_a_name() -> None:
    folders = [ROOT / "tests", *(folder / "tests" for folder in MEMBERS)]
    names = Counter(
        path.name for folder in folders for path in folder.rglob("test_*.py")
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_installed_framework_holds_the_profiles() -> None:
    shipped = resources.files("quaymaster") / "_profiles"
    expected = {path.name: path.read_text() for path in ROOT.glob("profiles/*.yaml")}
    assert expected
    assert {
        file.name: file.read_text()
        for file in shipped.iterdir()
        if file.name.endswith(".yaml")
    } == expected
