"""``quaymaster plugins new`` creates a package and rejects bad names."""

import ast
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app
from tests.kit.packages import MakeDistribution

FILES = {
    ".github/workflows/check.yml",
    ".github/workflows/release.yml",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "README.md",
    "profile.yaml",
    "pyproject.toml",
    "src/quaymaster_zone_gate/__init__.py",
    "src/quaymaster_zone_gate/py.typed",
    "src/quaymaster_zone_gate/plugin.py",
    "tests/test_zone_gate.py",
    "tests/test_zone_gate_contract.py",
}


def new(*arguments: str, folder: Path) -> Result:
    return CliRunner().invoke(
        app, ["plugins", "new", *arguments, "--dir", str(folder)], catch_exceptions=True
    )


def hooks_of(package: Path) -> set[str]:
    (module,) = package.glob("src/*/[a-z]*.py")
    return {
        node.name
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }


def test_package_has_all_required_files(tmp_path: Path) -> None:
    result = new("ZoneGate", folder=tmp_path)
    package = tmp_path / "quaymaster-zone-gate"
    assert (result.exit_code, result.stdout) == (0, f"{package}\n")
    files = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
    assert {path.as_posix() for path in files} == FILES


def test_plugin_is_found_by_its_entry_point(tmp_path: Path) -> None:
    new("ZoneGate", folder=tmp_path)
    text = (tmp_path / "quaymaster-zone-gate" / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    assert project["name"] == "quaymaster-zone-gate"
    assert project["entry-points"] == {
        "quaymaster.plugins": {"ZoneGate": "quaymaster_zone_gate:ZoneGate"}
    }
    assert "quaymaster>=0.1,<0.2" in project["dependencies"]


@pytest.mark.parametrize(
    ("points", "hooks"),
    [
        pytest.param("filter", {"filter"}, id="one"),
        pytest.param("preScore,pre_filter", {"pre_filter", "pre_score"}, id="two"),
        pytest.param("reserve", {"reserve", "unreserve"}, id="hooks of one point"),
        pytest.param("filter,filter", {"filter"}, id="the same twice"),
    ],
)
def test_plugin_has_hooks_for_the_chosen_points(
    points: str, hooks: set[str], tmp_path: Path
) -> None:
    assert new("ZoneGate", "--points", points, folder=tmp_path).exit_code == 0
    found = hooks_of(tmp_path / "quaymaster-zone-gate")
    assert found - {"events_to_register", "sign_pod"} == hooks


def test_without_points_a_plugin_filters_and_scores(tmp_path: Path) -> None:
    new("ZoneGate", folder=tmp_path)
    assert hooks_of(tmp_path / "quaymaster-zone-gate") >= {"filter", "score"}


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("Gate", "quaymaster-gate"),
        ("GPUGate", "quaymaster-gpu-gate"),
        ("Gate2D", "quaymaster-gate2d"),
        ("Level2Gate", "quaymaster-level2-gate"),
    ],
)
def test_distribution_is_named_after_the_plugin(
    name: str, distribution: str, tmp_path: Path
) -> None:
    new(name, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [distribution]


@pytest.mark.parametrize("name", ["PluginName", "PackageName", "PluginWords"])
def test_placeholder_words_of_the_templates_are_valid_names(
    name: str, tmp_path: Path
) -> None:
    new(name, folder=tmp_path)
    (package,) = tmp_path.iterdir()
    words = package.name.removeprefix("quaymaster-").replace("-", "_")
    assert (package / f"tests/test_{words}.py").exists()
    text = (package / f"src/quaymaster_{words}/__init__.py").read_text()
    assert f"from quaymaster_{words}.plugin import {name}, {name}Args" in text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(
            "zone-gate",
            "expected CamelCase, such as ZoneAllow, got 'zone-gate'; "
            "did you mean 'ZoneGate'?",
            id="dashes",
        ),
        pytest.param(
            "../Gate",
            "expected CamelCase, such as ZoneAllow, got '../Gate'; "
            "did you mean 'Gate'?",
            id="a path",
        ),
        pytest.param(
            "9!", "expected CamelCase, such as ZoneAllow, got '9!'", id="no word"
        ),
        pytest.param(
            "", "expected CamelCase, such as ZoneAllow, got ''", id="no letter"
        ),
        pytest.param(
            "Import",
            "'Import' is a word of Python, or would be in lower case; "
            "expected another name",
            id="a keyword",
        ),
        pytest.param(
            "RuntimeError",
            "'RuntimeError' is a name that Python has built in; expected another name",
            id="built in",
        ),
        pytest.param(
            "NodeInfo",
            "'NodeInfo' is a name that the plugin's own modules import; "
            "expected another name",
            id="imported",
        ),
        pytest.param(
            "TestGate",
            "pytest would take 'TestGate' for tests; expected another name",
            id="tests",
        ),
        pytest.param(
            "NodePorts",
            "a plugin 'NodePorts' is installed already; expected another name",
            id="an installed plugin",
        ),
        pytest.param(
            "Gate" + "x" * 40,
            f"'quaymaster-gate{'x' * 40}' has more than 50 letters; "
            "expected another name",
            id="too long",
        ),
    ],
)
def test_bad_names_are_refused(name: str, message: str, tmp_path: Path) -> None:
    result = new(name, folder=tmp_path)
    assert f"NAME: {message}" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_name_of_an_installed_distribution_is_refused(
    make_distribution: MakeDistribution, tmp_path: Path
) -> None:
    make_distribution("quaymaster-zone-gate", {})
    result = new("ZoneGate", folder=tmp_path)
    expected = "'quaymaster-zone-gate' is installed already; expected another name"
    assert str(result.exception) == f"NAME: {expected}"


def test_points_of_groups_need_a_feature_gate(tmp_path: Path) -> None:
    result = new("ZoneGate", "--points", "placement_score", folder=tmp_path)
    text = "'placement_score' needs the feature gate TopologyAwareWorkloadScheduling"
    assert text in str(result.exception)


def test_unknown_points_are_refused(tmp_path: Path) -> None:
    result = new("ZoneGate", "--points", "filter,skore", folder=tmp_path)
    assert "no extension point 'skore' (there are: preEnqueue," in str(result.exception)
    assert "did you mean 'score'?" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_existing_files_are_never_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "quaymaster-zone-gate"
    kept.mkdir()
    result = new("ZoneGate", folder=tmp_path)
    assert str(result.exception) == f"{kept}: exists already, and is left as it is"
    assert list(tmp_path.rglob("*")) == [kept]


def test_missing_parent_folder_is_created(tmp_path: Path) -> None:
    parent = tmp_path / "plugins" / "ours"
    assert new("ZoneGate", folder=parent).exit_code == 0
    assert [path.name for path in parent.iterdir()] == ["quaymaster-zone-gate"]


def test_file_cannot_be_the_parent_folder(tmp_path: Path) -> None:
    file = tmp_path / "plugins"
    file.touch()
    result = new("ZoneGate", folder=file)
    assert result.exit_code == 2
    assert "is a file" in result.stderr


def test_failed_creation_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, text: str, encoding: str) -> int:
        if path.name == "README.md":
            raise OSError(28, "No space left on device")
        return write(path, text, encoding=encoding)

    monkeypatch.setattr(Path, "write_text", full)
    result = new("ZoneGate", folder=tmp_path)
    assert "quaymaster-zone-gate: No space left on device" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_plugin_with_a_kind_has_a_module_for_it(tmp_path: Path) -> None:
    assert new("ZoneGate", "--kind", "Berth", folder=tmp_path).exit_code == 0
    source = tmp_path / "quaymaster-zone-gate" / "src" / "quaymaster_zone_gate"
    kinds = (source / "kinds.py").read_text()
    assert 'plural: ClassVar[str] = "berths"' in kinds
    assert "on_change(Berth, self._learn)" in (source / "plugin.py").read_text()


def test_plugin_with_data_reads_them_over_http(tmp_path: Path) -> None:
    assert new("ZoneGate", "--data", "http", folder=tmp_path).exit_code == 0
    assert "start" in hooks_of(tmp_path / "quaymaster-zone-gate")


def test_second_profile_has_another_label(tmp_path: Path) -> None:
    assert new("ZoneGate", "--profiles", "2", folder=tmp_path).exit_code == 0
    text = (tmp_path / "quaymaster-zone-gate" / "profile.yaml").read_text()
    assert text.count("schedulerName:") == 2
    assert "label: example.com/second-level" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "Berth", "--data", "http"], "--kind and --data exclude each other"),
        (["--kind", "Berth", "--points", "filter"], "--kind has its own extension"),
        (["--data", "http", "--points", "score"], "--data has its own extension"),
        (["--data", "ftp"], "'ftp' is not 'http'"),
        (["--profiles", "3"], "3 is not in the range 1<=x<=2"),
    ],
    ids=["both", "kind with points", "data with points", "other data", "profiles"],
)
def test_options_that_exclude_each_other_are_refused(
    options: list[str], message: str, tmp_path: Path
) -> None:
    result = new("ZoneGate", *options, folder=tmp_path)
    assert result.exit_code == 2
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("berth", "expected CamelCase, such as Rack, got 'berth'; did you mean"),
        ("Pod", "'Pod' is a kind of Kubernetes, and --kind is for a new one"),
        ("Lease", "needs no --kind: kinds = (Lease,) in its class"),
        ("Exception", "'Exception' is a name of Python; expected another name"),
        ("Status", "'Status' is a name that the plugin's own modules use"),
        ("ZoneGate", "'ZoneGate' is a name that the plugin's own modules use"),
        ("K" + "x" * 30, "has more than 30 letters; expected another name"),
    ],
    ids=[
        "lower case",
        "Kubernetes",
        "read",
        "Python",
        "imported",
        "the plugin",
        "too long",
    ],
)
def test_bad_names_of_kinds_are_refused(
    kind: str, message: str, tmp_path: Path
) -> None:
    result = new("ZoneGate", "--kind", kind, folder=tmp_path)
    assert "--kind: " in str(result.exception)
    assert message in str(result.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Berth", "berths"), ("Ferry", "ferries"), ("Quay", "quays"), ("Box", "boxes")],
)
def test_plural_of_a_kind_is_english(kind: str, plural: str, tmp_path: Path) -> None:
    new("ZoneGate", "--kind", kind, folder=tmp_path)
    [kinds] = tmp_path.rglob("kinds.py")
    assert f'plural: ClassVar[str] = "{plural}"' in kinds.read_text()
