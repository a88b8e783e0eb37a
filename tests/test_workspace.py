"""Every member of the workspace is complete and in every list that must name it."""

import tomllib
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FRAMEWORK = ROOT / "framework"
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
MEMBERS = [FRAMEWORK, *PLUGINS]

each_plugin = pytest.mark.parametrize(
    "folder", PLUGINS, ids=[folder.name for folder in PLUGINS]
)


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = read_toml(folder / "pyproject.toml")["project"]
    return project


def distribution_of(folder: Path) -> str:
    words = folder.name.replace("_", "-")
    return "quaymaster" if folder == FRAMEWORK else f"quaymaster-{words}"


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


@pytest.mark.parametrize("folder", MEMBERS, ids=lambda folder: folder.name)
def test_every_distribution_carries_the_licence(folder: Path) -> None:
    # A link would come into the sdist as a link that leads out of it.
    assert not (folder / "LICENSE").is_symlink()
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@each_plugin
def test_plugin_folder_is_complete(folder: Path) -> None:
    package = folder / "src" / f"quaymaster_{folder.name}"
    assert (folder / "README.md").is_file()
    assert (package / "__init__.py").is_file()
    assert (package / "py.typed").is_file()
    assert list((folder / "tests").glob("test_*.py"))


@each_plugin
def test_plugin_project_is_named_after_its_folder(folder: Path) -> None:
    assert read_project(folder)["name"] == distribution_of(folder)


@each_plugin
def test_plugin_depends_on_the_framework_of_its_minor_version(folder: Path) -> None:
    assert "quaymaster>=0.1,<0.2" in read_project(folder)["dependencies"]


@each_plugin
def test_entry_point_names_a_class_of_its_own_name(folder: Path) -> None:
    entry_points = read_project(folder)["entry-points"]["quaymaster.plugins"]
    package = f"quaymaster_{folder.name}"
    assert entry_points == {name: f"{package}:{name}" for name in entry_points}
    assert [name.lower() for name in entry_points] == [folder.name.replace("_", "")]


@pytest.mark.parametrize("folder", MEMBERS, ids=[folder.name for folder in MEMBERS])
def test_tests_of_a_member_need_nothing_but_what_is_installed(folder: Path) -> None:
    names = {path.name for path in (folder / "tests").rglob("*.py")}
    assert names.isdisjoint({"__init__.py", "conftest.py"})


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
