"""``plugins check`` checks installed distributions and folders."""

import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result

from quaymaster.hookspecs import Deprecation, ExtensionPoint, HookAge
from tests.kit.internals.cli import app
from tests.kit.internals.packages import needed_sdk
from tests.kit.packages import MakeDistribution
from tests.kit.results import checked_result

MakeFolder: TypeAlias = Callable[..., str]

PROJECT = """
[project]
name = "acme-gates"
version = "0.1.0"
description = "Gates."
readme = "README.md"
license = "MIT"
requires-python = ">=3.11"
dependencies = ["quaymaster>=0.1,<0.2"]

[project.entry-points."quaymaster.plugins"]
Gates = "acme_gates:Gates"
"""
GATES = """
from quaymaster import Status, hookimpl

class Gates:
    reads = ()

    def __init__(self, args, handle):
        pass

    @hookimpl
    def bind(self):
        return Status.skip()
"""
NEEDY = """
import attrs

@attrs.frozen(kw_only=True)
class GatesArgs:
    zone: str
""" + GATES.replace("class Gates:", "class Gates:\n    Args = GatesArgs\n")
LANE = """
from typing import ClassVar
from quaymaster import ApiObject

class Lane(ApiObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "acme.example/v1"
    kind: ClassVar[str] = "Lane"
    plural: ClassVar[str] = "lanes"
"""


@pytest.fixture
def make_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeFolder:
    """Makes a folder with a package of plugins that is as it should be, but for..."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "acme_gates", raising=False)

    def make(
        old: str = "", new: str = "", code: str = GATES, within: str = "gates"
    ) -> str:
        assert old in PROJECT
        folder = tmp_path / within
        package = folder / "src" / "acme_gates"
        package.mkdir(parents=True)
        (folder / "pyproject.toml").write_text(PROJECT.replace(old, new))
        (package / "__init__.py").write_text(code)
        (package / "py.typed").touch()
        return str(folder)

    return make


def check(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plugins", "check", *arguments])


def findings(*arguments: str) -> list[str]:
    """Return the lines of the findings, without the one that counts them."""
    result = check(*arguments)
    assert result.exit_code in (0, 1), result.output
    return result.stdout.splitlines()[:-1]


@pytest.mark.long
def test_valid_package_gets_a_confirmation(make_folder: MakeFolder) -> None:
    result = check(make_folder())
    assert (result.exit_code, result.stdout) == (
        0,
        "acme-gates 0.1.0: 1 plugin; all is well\n",
    )


VERSIONED = """
import numpy as np
from quaymaster import NodeVerdicts, Status, hookimpl

OLD = Status.unschedulable("old")

class Gates:
    def __init__(self, args, handle):
        self._handle = handle

    @hookimpl
    def filter(self):
        return None if self._handle.kubernetes.since("1.37") else OLD

    @hookimpl
    def filter_nodes(self, nodes, rows):
        return NodeVerdicts(np.zeros(nodes.count(rows), dtype=np.int64), lambda _: OLD)
"""
"""A plugin whose twin is wrong with 1.36."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("versions", "exit_code"),
    [([], 1), (["1.36"], 1), (["1.37"], 0), (["1.37", "1.36"], 1)],
    ids=["the default", "the older", "the newer", "both"],
)
def test_twin_that_is_wrong_with_one_version_is_found(
    make_folder: MakeFolder, versions: list[str], exit_code: int
) -> None:
    options = [f"--kubernetes={version}" for version in versions]
    found = check(make_folder(code=VERSIONED), "--without=rights", *options)
    assert found.exit_code == exit_code, found.output
    message = "error: [contract: twin] Gates.filter_nodes: with Kubernetes 1.36: "
    assert (message in found.stdout) is bool(exit_code)


def test_unknown_version_is_rejected(make_folder: MakeFolder) -> None:
    result = check(make_folder(), "--kubernetes", "1.35")
    assert result.exit_code == 2
    assert "--kubernetes: expected one of 1.36, 1.37, got '1.35'" in result.stderr


@pytest.mark.long
def test_built_in_plugin_is_valid() -> None:
    result = check("quaymaster-default-binder")
    assert result.exit_code == 0
    assert result.stdout.endswith(": 1 plugin; all is well\n")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        pytest.param(
            'name = "acme-gates"',
            "",
            "error: [metadata] name: expected a name, got none",
            id="no name",
        ),
        pytest.param(
            'version = "0.1.0"',
            "",
            "error: [metadata] version: expected a version, got none",
            id="no version",
        ),
        pytest.param(
            '"0.1.0"',
            '"one"',
            "error: [metadata] version: expected a version such as 0.1.0, got 'one'",
            id="a version that is none",
        ),
        pytest.param(
            'requires-python = ">=3.11"',
            "",
            "warning: [metadata] requires-python: expected one, such as '>=3.11', "
            "got none",
            id="any Python",
        ),
        pytest.param(
            ">=3.11",
            "3",
            "error: [metadata] requires-python: expected one such as '>=3.11', got '3'",
            id="no range of Pythons",
        ),
        pytest.param(
            ">=3.11",
            ">=3.9",
            "warning: [metadata] requires-python: '>=3.9' allows Python 3.10, but "
            "quaymaster needs >=3.11",
            id="a Python that the framework does not run on",
        ),
        pytest.param(
            'license = "MIT"',
            "",
            "warning: [metadata] license: there is none",
            id="no license",
        ),
        pytest.param(
            'readme = "README.md"',
            "",
            "warning: [metadata] readme: there is none",
            id="no readme",
        ),
        pytest.param(
            "quaymaster>=0.1,<0.2",
            "numpy",
            "error: [sdk] dependencies: expected 'quaymaster>=0.1,<0.2', "
            "got no quaymaster",
            id="no framework",
        ),
        pytest.param(
            "quaymaster>=0.1,<0.2",
            "quaymaster>=0.2",
            "error: [sdk] dependencies: 'quaymaster>=0.2' keeps out 0.1.0, "
            "which is installed",
            id="another framework",
        ),
        pytest.param(
            "quaymaster>=0.1,<0.2",
            "Quaymaster [default] >= 0.1",
            "warning: [sdk] dependencies: expected an end as in "
            "'quaymaster>=0.1,<0.2', got 'quaymaster>=0.1'",
            id="any later framework",
        ),
        pytest.param(
            'Gates = "acme_gates:Gates"',
            'Gates = "acme_gates:Gate"',
            "error: [loading] plugin 'Gates': could not be imported: AttributeError: "
            "module 'acme_gates' has no attribute 'Gate'",
            id="no such class",
        ),
        pytest.param(
            "Gates =",
            "Doors =",
            "warning: [loading] plugin 'Doors': its class is called 'Gates', "
            "expected the name in profiles",
            id="two names",
        ),
        pytest.param(
            "Gates =",
            "NodePorts =",
            "error: [name clash] plugin 'NodePorts': quaymaster-node-ports 0.1.0 "
            "offers a plugin of this name, too",
            id="the name of another plugin",
        ),
        pytest.param(
            'Gates = "acme_gates:Gates"',
            "",
            "error: [metadata] entry points: expected a plugin in the group "
            "'quaymaster.plugins', got none",
            id="nothing",
        ),
    ],
)
def test_mistakes_of_the_project_are_found(
    old: str, new: str, line: str, make_folder: MakeFolder
) -> None:
    assert line in findings(make_folder(old, new, NEEDY))


def test_requirements_of_extras_are_ignored(make_folder: MakeFolder) -> None:
    needed = '"quaymaster>=0.1,<0.2"'
    extra = f"{needed}, \"quaymaster==9; extra == 'old'\""
    found = findings(make_folder(needed, extra, NEEDY))
    assert not any("[sdk]" in line for line in found)


UNKNOWN_HOOK = GATES.replace("def bind", "def bnd")
NO_HOOK = GATES.replace("    @hookimpl\n    def bind", "    def work")
TWO_MISTAKES = (
    GATES
    + """
    @hookimpl
    def filter(self, pods):
        return None

    def score(self):
        return 0
"""
)


@pytest.mark.parametrize(
    ("code", "problems"),
    [
        (UNKNOWN_HOOK, ["unknown hook 'bnd'; did you mean 'bind'?"]),
        (NO_HOOK, ["has no hook, so no profile can use it"]),
        (
            TWO_MISTAKES,
            ["hook 'filter': unknown argument 'pods'", "method 'score' has the name"],
        ),
        ("import gone", ["could not be imported: ModuleNotFoundError: No module"]),
    ],
    ids=["unknown hook", "no hook", "two mistakes", "needs what is not installed"],
)
def test_mistakes_of_the_code_are_found_one_line_each(
    code: str, problems: list[str], make_folder: MakeFolder
) -> None:
    found = findings(make_folder(code=code))
    assert len(found) == len(problems)
    for line, problem in zip(found, problems, strict=True):
        assert line.startswith(f"error: [loading] plugin 'Gates': {problem}")


@pytest.mark.long
def test_broken_contract_is_found(make_folder: MakeFolder) -> None:
    code = GATES.replace("bind", "filter").replace("Status.skip()", "{}['tier']")
    (line,) = findings(make_folder(code=code))
    assert line.startswith("error: [contract: failures] Gates.filter: ")
    assert "KeyError: 'tier'" in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("declared", "lines"),
    [
        ({"failures": "on purpose"}, []),
        (
            {"failure": "on purpose"},
            ["error: [contract] plugin 'Gates': contract_opt_outs: no check 'failure'"],
        ),
    ],
    ids=["known", "unknown"],
)
def test_class_may_opt_out_of_checks(
    declared: dict[str, str], lines: list[str], make_folder: MakeFolder
) -> None:
    code = GATES.replace("bind", "filter").replace("Status.skip()", "{}['tier']")
    attribute = f"class Gates:\n    contract_opt_outs = {declared}\n"
    found = findings(make_folder(code=code.replace("class Gates:", attribute)))
    assert [line.partition(" (there")[0] for line in found] == lines


@pytest.mark.long
def test_log_messages_of_a_plugin_are_not_repeated_for_each_cluster(
    make_folder: MakeFolder, caplog: pytest.LogCaptureFixture
) -> None:
    log = "import logging; logging.getLogger().error('it begins')"
    check(make_folder(code=GATES.replace("pass", log)))
    assert "it begins" not in caplog.messages
    logging.getLogger().error("the log goes on")
    assert "the log goes on" in caplog.messages


@pytest.mark.long
def test_check_of_the_contract_can_be_left_out(make_folder: MakeFolder) -> None:
    code = GATES.replace("bind", "filter").replace("Status.skip()", "{}['tier']")
    assert findings(make_folder(code=code), "--without", "failures") == []


LOCKED = """
from quaymaster import Status, hookimpl

class Gates:
    reads = ()

    def __init__(self, args, handle):
        pass

    @hookimpl
    def filter(self, node):
        lock = node.node.labels.get("acme.example/lock")
        return Status.unresolvable(f"locked by {lock}") if lock else None
"""
"""A plugin that rejects nodes with a label that the suite's own clusters lack."""
OWN_CONTRACT = """
from acme_gates import Gates
from quaymaster.testing import PluginContract, clusters, nodes, pods

class TestGates(PluginContract):
    plugin = Gates

    def clusters(self):
        locked = {"labels": {"acme.example/lock": "Bob"}}
        return clusters(nodes=nodes(locked), pods=pods())
"""


def add_test(folder: str, code: str) -> None:
    tests = Path(folder) / "tests"
    tests.mkdir()
    (tests / "test_contract.py").write_text(code)


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_hook_without_effect_on_any_cluster_is_a_warning(
    make_folder: MakeFolder,
) -> None:
    (line,) = findings(make_folder(code=LOCKED))
    assert line.startswith(
        "warning: [contract: effects] plugin 'Gates': "
        "the clusters do not exercise it: filter rejected 0 of "
    )


@pytest.mark.long
def test_clusters_come_from_the_contract_class_of_the_package(
    make_folder: MakeFolder,
) -> None:
    folder = make_folder(code=LOCKED)
    add_test(folder, OWN_CONTRACT)
    assert findings(folder) == []


@pytest.mark.long
def test_packages_with_a_module_of_one_name_are_told_apart(
    make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reason in ("locked by", "closed by"):
        code = LOCKED.replace("locked by", reason)
        folder = make_folder(code=code, within=reason.partition(" ")[0])
        add_test(folder, OWN_CONTRACT)
        assert findings(folder) == []
        monkeypatch.delitem(sys.modules, "acme_gates")


@pytest.mark.long
@pytest.mark.usefixtures("usual_examples")
def test_contract_class_shows_what_default_clusters_miss(
    make_folder: MakeFolder,
) -> None:
    folder = make_folder(code=LOCKED.replace('f"locked by {lock}"', "{}[lock]"))
    add_test(folder, OWN_CONTRACT)
    (line,) = findings(folder)
    assert line.startswith("error: [contract: failures] Gates.filter: ")
    assert "KeyError: 'Bob'" in line


def test_contract_class_gives_the_arguments(make_folder: MakeFolder) -> None:
    folder = make_folder(code=NEEDY)
    add_test(folder, OWN_CONTRACT + "    args = {'zone': 7}\n")
    (line,) = findings(folder)
    assert line.startswith("error: [contract: loading] plugin 'Gates': ")
    assert "zone: expected a text, got 7" in line


def test_test_file_that_cannot_be_imported_is_a_warning(
    make_folder: MakeFolder,
) -> None:
    folder = make_folder(code=NEEDY)
    add_test(folder, "import gone\n" + OWN_CONTRACT)
    warning, _ = findings(folder)
    assert warning.startswith(f"warning: [contract] {folder}/tests/test_contract.py: ")
    assert "cannot be imported: ModuleNotFoundError: No module named 'gone'" in warning


def test_contract_of_a_plugin_that_needs_arguments_is_not_checked(
    make_folder: MakeFolder,
) -> None:
    problem = "skipped: it needs arguments (zone), see --config"
    assert findings(make_folder(code=NEEDY)) == [
        f"warning: [contract] plugin 'Gates': {problem}"
    ]


def test_arguments_come_from_a_configuration(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("profiles: [{pluginConfig: [{name: Gates, args: {zone: 7}}]}]")
    (line,) = findings(make_folder(code=NEEDY), "--config", str(config))
    assert line.startswith("error: [contract: loading] plugin 'Gates': ")
    assert "zone: expected a text, got 7" in line


def test_configuration_without_arguments_is_refused(
    make_folder: MakeFolder, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("profiles: []")
    result = check(make_folder(), "--config", str(config))
    assert result.exit_code == 2
    assert "config.yaml: expected profiles[].pluginConfig, got none" in result.output


def test_package_without_types_gets_a_finding(make_folder: MakeFolder) -> None:
    folder = Path(make_folder(code=NEEDY))
    (folder / "src" / "acme_gates" / "py.typed").unlink()
    lines = findings(str(folder))
    problem = "has no file py.typed, so type checkers ignore its types"
    start = f"error: [typing] package 'acme_gates': {problem}"
    assert any(line.startswith(start) for line in lines)


PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled: [{}]
"""


def test_profile_that_does_not_enable_the_plugin_is_an_error(
    make_folder: MakeFolder,
) -> None:
    folder = Path(make_folder(code=NEEDY))
    profile = folder / "profile.yaml"
    profile.write_text(PROFILE.format(""))
    line = (
        "error: [profile] profile.yaml: enables no Gates: add the name to "
        "plugins.multiPoint.enabled"
    )
    assert line in findings(str(folder))


FILTER_ONLY = PROFILE.replace("multiPoint:", "filter:")
WAITS = """
    @hookimpl
    def events_to_register(self):
        return []

    @hookimpl
    def filter(self):
        return None

    @hookimpl
    def reserve(self):
        return None

    @hookimpl
    def unreserve(self):
        return None

    @hookimpl
    def permit(self):
        return None
"""


@pytest.mark.parametrize(
    ("disabled", "left_out"),
    [
        ([], [("reserve", "reserve, unreserve"), ("permit", "permit")]),
        (["permit"], [("reserve", "reserve, unreserve")]),
        (["permit", "reserve"], []),
    ],
)
def test_profile_that_leaves_out_a_hook_gets_a_warning(
    make_folder: MakeFolder,
    disabled: Sequence[str],
    left_out: Sequence[tuple[str, str]],
) -> None:
    code = GATES.partition("    @hookimpl")[0] + WAITS
    folder = Path(make_folder(code=code))
    text = FILTER_ONLY.format("{name: Gates}")
    for point in disabled:
        text += f"      {point}: {{disabled: [{{name: Gates}}]}}\n"
    (folder / "profile.yaml").write_text(text)
    lines = [line for line in findings(str(folder)) if "[profile]" in line]
    points, hooks = (
        ", ".join(pair[number] for pair in left_out) for number in range(2)
    )
    expected = (
        f"warning: [profile] profile.yaml: enables Gates, but not at {points}, so "
        f"these hooks of it never run: {hooks}; enable it under plugins.multiPoint, or "
        "disable it by name at the points to leave out"
    )
    assert lines == ([expected] if left_out else [])


def test_profile_with_all_hooks_gets_no_warning(make_folder: MakeFolder) -> None:
    code = GATES.partition("    @hookimpl")[0] + WAITS
    folder = Path(make_folder(code=code))
    (folder / "profile.yaml").write_text(PROFILE.format("{name: Gates}"))
    assert not [line for line in findings(str(folder)) if "[profile]" in line]


def test_profile_that_does_not_load_is_an_error(make_folder: MakeFolder) -> None:
    folder = Path(make_folder(code=NEEDY))
    (folder / "profile.yaml").write_text(PROFILE.format("{name: Gate}"))
    lines = findings(str(folder))
    start = "error: [profile] profile.yaml: does not load: "
    assert any(line.startswith(start) and "'Gate'" in line for line in lines)


HATCHLING = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["src/acme_gates"]
"""


def built(folder: str, build: str = HATCHLING) -> str:
    """Let a folder name its build backend."""
    with Path(folder, "pyproject.toml").open("a") as project:
        project.write(build)
    # The build needs it.
    Path(folder, "README.md").touch()
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "line"),
    [
        pytest.param(
            'exclude = ["py.typed"]',
            "error: [typing] package 'acme_gates': the wheel has no file py.typed, "
            "so type checkers ignore its types",
            id="no types",
        ),
        pytest.param(
            'exclude = ["parts.py"]',
            "error: [wheel] package 'acme_gates': the wheel leaves out "
            "acme_gates/parts.py",
            id="a module",
        ),
        pytest.param(
            'exclude = ["__init__.py"]',
            "error: [wheel] entry points: the wheel has no module 'acme_gates', which "
            "an entry point names",
            id="the module of the plugin",
        ),
        pytest.param("", "", id="nothing"),
    ],
)
def test_file_that_the_wheel_leaves_out_gets_a_finding(
    make_folder: MakeFolder, setting: str, line: str
) -> None:
    folder = built(make_folder(code=NEEDY), f"{HATCHLING}{setting}\n")
    Path(folder, "src", "acme_gates", "parts.py").touch()
    reported = [text for text in findings(folder) if "wheel" in text]
    assert reported == [line] * bool(line)


READING = "import pathlib\n" + GATES
READS = "(pathlib.Path(__file__).parents[2] / 'limits.json').read_text()"


@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(f"{READING}\n{READS}\n", id="by the module"),
        pytest.param(READING.replace("pass", READS, 1), id="by the constructor"),
    ],
)
@pytest.mark.parametrize("is_there", [True, False])
def test_file_outside_the_wheel_that_is_read_gets_a_finding(
    make_folder: MakeFolder, code: str, is_there: bool
) -> None:
    folder = built(make_folder(code=code))
    if is_there:
        Path(folder, "limits.json").touch()
    reported = [text for text in findings(folder) if "[wheel]" in text]
    start = (
        "error: [wheel] entry points: 'acme_gates:Gates' fails if it is loaded from "
        "the wheel, but not here: "
    )
    assert [text.startswith(start) for text in reported] == [True] * is_there
    assert all("No such file or directory" in text for text in reported)


STARTING = (
    """
import json
import socket
from importlib.resources import files
from pathlib import Path

"""
    + GATES
    + """
    def __init__(self, args, handle):
        self.handle = handle

    @hookimpl
    def start(self):
        self.handle.run_in_background(self.fetch, self.arrive)

    def fetch(self):
        try:
            socket.create_connection(("gates.invalid", 80)).close()
        except OSError:
            return None

    def arrive(self, limits):
        {}
"""
)
LATER = "self.handle.clock.call_later(600, lambda: {}, background=True)"
OUTSIDE = "(Path(__file__).parents[2] / 'limits.json').read_text()"
INSIDE = "files('acme_gates').joinpath('limits.json').read_text()"


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param(
            OUTSIDE,
            "limits.json, which is outside of the package",
            id="after a failure",
        ),
        pytest.param(
            LATER.format(OUTSIDE),
            "limits.json, which is outside of the package",
            id="by a timer",
        ),
        pytest.param(
            LATER.format(INSIDE.replace("limits", "left-out")),
            "src/acme_gates/left-out.json, which is not in the wheel",
            id="by a timer, from the package",
        ),
        pytest.param(
            "__import__('pkgutil').get_data('acme_gates', 'left-out.json')",
            "src/acme_gates/left-out.json, which is not in the wheel",
            id="as data of a loader",
        ),
        pytest.param(INSIDE, "", id="in the wheel"),
        pytest.param("Path('/etc/hosts').read_text()", "", id="of the machine"),
    ],
)
def test_file_that_is_read_later_must_be_in_the_wheel(
    make_folder: MakeFolder, code: str, found: str
) -> None:
    setting = 'exclude = ["left-out.json"]'
    folder = built(make_folder(code=STARTING.format(code)), f"{HATCHLING}{setting}\n")
    for name in ("limits.json", "src/acme_gates/limits.json"):
        Path(folder, name).touch()
    Path(folder, "src", "acme_gates", "left-out.json").touch()
    reported = [text for text in findings(folder) if "[wheel]" in text]
    start = f"error: [wheel] files: the code reads {found}"
    assert [text.startswith(start) for text in reported] == [True] * bool(found)


@pytest.mark.long
def test_wheel_that_cannot_be_built_gets_a_finding(make_folder: MakeFolder) -> None:
    build = HATCHLING.partition("[tool.")[0]
    folder = built(make_folder(code=NEEDY), build)
    Path(folder, "src", "acme_gates").rename(Path(folder, "src", "other"))
    (line,) = [text for text in findings(folder) if "wheel" in text]
    start = (
        "error: [wheel] build-system: the wheel cannot be built: Unable to determine"
    )
    assert line.startswith(start)
    assert not Path(folder, "dist").exists()


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(HATCHLING.replace("hatchling.build", "flit.no"), id="not there"),
        pytest.param(
            HATCHLING.replace("build-backend", 'backend-path = ["."]\nbuild-backend'),
            id="in the folder",
        ),
    ],
)
def test_wheel_of_another_backend_is_not_built(
    make_folder: MakeFolder, build: str
) -> None:
    folder = built(make_folder(code=NEEDY), build)
    assert not [line for line in findings(folder) if "[wheel]" in line]


def test_warnings_fail_with_the_strict_option(make_folder: MakeFolder) -> None:
    folder = make_folder(code=NEEDY)
    assert check(folder).exit_code == 0
    assert check(folder, "--strict").exit_code == 1


def test_kind_that_an_installed_package_declares_is_reported(
    make_distribution: MakeDistribution, make_folder: MakeFolder
) -> None:
    make_distribution(
        "other-lanes",
        {"Lane": "other_lanes:Lane"},
        group="quaymaster.kinds",
        module="other_lanes",
        code=LANE,
    )
    gates = NEEDY.replace("class Gates:", "class Gates:\n    kinds = (Lane,)\n")
    problem = "other-lanes 1.0 declares it with another class"
    found = findings(make_folder(code=LANE + gates))
    assert f"error: [name clash] kind 'Lane': {problem}" in found


def test_invalid_observer_is_reported(make_folder: MakeFolder) -> None:
    entry = 'quaymaster.plugins"]\nGates = "acme_gates:Gates"'
    observer = 'quaymaster.observers"]\nCounter = "builtins:int"'
    (found,) = findings(make_folder(entry, observer))
    assert found.startswith("error: [loading] entry points: observer 'Counter' (acme")
    assert found.endswith("expected an object with a method 'called', got 0")


@pytest.mark.long
def test_deprecated_hook_is_reported_with_its_replacement(
    make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = Deprecation(since="0.3", until="0.5", instead="use 'moor'")
    ages = {"bind": HookAge(since="0.1", deprecated=going)}
    stays = HookAge(since="0.1")
    monkeypatch.setattr(ExtensionPoint, "age", lambda _, hook: ages.get(hook, stays))
    message = "hook 'bind' is deprecated since 0.3, gone in 0.5; use 'moor' instead"
    found = findings(make_folder())
    assert found == [f"warning: [deprecated] plugin 'Gates': {message}"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("declared", "lowest"),
    [
        ("quaymaster>=0.1,<0.3", "0.1"),
        ("quaymaster~=0.1.0", "0.1.0"),
        ("quaymaster==0.1.*", "0.1"),
        ("quaymaster>0.1", "0.1"),
        ("quaymaster<0.3", "0.1"),
    ],
)
def test_hook_that_is_younger_than_the_lowest_framework_of_the_range_is_an_error(
    declared: str,
    lowest: str,
    make_folder: MakeFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    born_with(monkeypatch, bind="0.2")
    problem = (
        f"hook 'bind' came with quaymaster 0.2, but the dependencies admit {lowest}"
    )
    line = f"error: [sdk] plugin 'Gates': {problem}; expected 'quaymaster>=0.2'"
    assert line in findings(make_folder("quaymaster>=0.1,<0.2", declared))


@pytest.mark.long
@pytest.mark.parametrize(
    "declared",
    ["quaymaster>=0.2,<0.3", "quaymaster>=0.2.0.dev0", "quaymaster>=0.1,>=0.2"],
)
def test_hook_that_every_framework_of_the_range_has_is_not_a_finding(
    declared: str, make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    born_with(monkeypatch, bind="0.2")
    found = findings(make_folder("quaymaster>=0.1,<0.2", declared))
    assert not any("came with" in line for line in found)


@pytest.mark.long
@pytest.mark.parametrize(
    "use",
    [
        "from quaymaster import Status",
        "import quaymaster\nprint(quaymaster.Status)",
        "import quaymaster as q\nprint(q.Status)",
    ],
    ids=["import from", "module", "other name"],
)
def test_public_name_that_is_younger_than_the_range_is_an_error(
    use: str, make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = {"0.2": {"quaymaster": frozenset({"Status"})}}
    monkeypatch.setattr(needed_sdk, "ADDED", added)
    folder = make_folder()
    (Path(folder) / "src" / "acme_gates" / "more.py").write_text(use)
    problem = "quaymaster.Status came with quaymaster 0.2, but the dependencies admit"
    assert any(
        line.startswith("error: [sdk] more.py:") and problem in line
        for line in findings(folder)
    )


@pytest.mark.long
@pytest.mark.parametrize("since", ["0.1", "0.3"])
def test_report_has_the_lowest_framework_that_the_code_needs(
    since: str, make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    born_with(monkeypatch, bind=since)
    result = check(make_folder(), "-o", "json")
    assert json.loads(result.stdout)["needs"] == since


def born_with(monkeypatch: pytest.MonkeyPatch, **since: str) -> None:
    """Set the versions that introduced some hooks; the others have 0.1."""
    monkeypatch.setattr(
        ExtensionPoint, "age", lambda _, hook: HookAge(since=since.get(hook, "0.1"))
    )


def test_installed_distribution_does_not_clash_with_itself(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-gates", {"Gates": "acme_gates:Gates"}, module="acme_gates", code=NEEDY
    )
    found = findings("acme-gates")
    assert not any("clash" in line or "loading" in line for line in found)
    assert len(found) == 6  # there is little in its metadata


@pytest.mark.long
def test_report_is_available_as_json(make_folder: MakeFolder) -> None:
    code = GATES.replace("bind", "filter").replace("Status.skip()", "{}['tier']")
    result = check(make_folder(code=code), "-o", "json")
    assert result.exit_code == 1
    report: dict[str, Any] = json.loads(result.stdout)
    checked_result("plugins-check", report)
    (found,) = report.pop("findings")
    assert report == {
        "distribution": "acme-gates",
        "version": "0.1.0",
        "plugins": ["Gates"],
        "kinds": [],
        "errors": 1,
        "warnings": 0,
        "needs": "0.1",
    }
    assert (found["level"], found["check"]) == ("error", "contract: failures")
    assert found["example"]


@pytest.mark.parametrize(
    ("project", "message"),
    [
        pytest.param(None, "No such file or directory", id="none"),
        pytest.param("[project", "Expected ']'", id="no TOML"),
        pytest.param("[tool]", "expected a table [project]", id="no project"),
        pytest.param("project = 7", "project: expected a dict, got 7", id="a number"),
        pytest.param(
            "[project]\ndependencies = 'x'",
            "dependencies: expected a list, got 'x'",
            id="another type",
        ),
    ],
)
def test_folder_that_is_not_a_package_is_bad_input(
    project: str | None, message: str, tmp_path: Path
) -> None:
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)
    result = check(str(tmp_path))
    assert f"{tmp_path}/pyproject.toml: {message}" in str(result.exception)


def test_package_that_is_not_installed_is_bad_input() -> None:
    problem = "neither a folder nor the name of an installed distribution"
    assert str(check("acme-gone").exception) == f"acme-gone: {problem}"


@pytest.mark.long
def test_plugin_that_does_not_declare_what_it_reads_gets_a_warning(
    make_folder: MakeFolder,
) -> None:
    folder = make_folder(code=GATES.replace("    reads = ()\n", ""))
    (line,) = findings(folder)
    assert line == (
        "warning: [rights] plugin 'Gates': declares neither what it reads nor what it "
        "writes, so a scheduler with it requests the usual rights; for nodes and pods "
        "alone, reads = () is enough"
    )
