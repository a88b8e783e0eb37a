"""The options ``--kubernetes`` and ``--feature-gates``, which all commands share."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from quaymaster.config import Kubernetes
from quaymaster.scenarios import ScenarioErrors, load_scenario
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness
from tests.kit.documents import YAML_HEADER
from tests.kit.internals.cli import app

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: main, image: nginx}]
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
kubernetesVersion: "%s"
featureGates: {%s}
input: {nodes: ["2:cpu=4,memory=8Gi"], files: [pod.yaml]}
"""
NODES = ("--nodes", "2:cpu=4,memory=8Gi")
ORDERS = {
    "1.36": ["NodeUnschedulable", "NodeName"],
    "1.37": ["NodeName", "NodeUnschedulable"],
}
"""Per version, the plugin that the default profile calls first of two."""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pod.yaml").write_text(POD)
    Path("config.yaml").write_text(YAML_HEADER)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def first_two(filters: Sequence[str]) -> list[str]:
    return [name for name in filters if name in ("NodeName", "NodeUnschedulable")]


def commands() -> list[tuple[str, click.Command]]:
    """All commands with the options of their groups' members, by their words."""
    found: list[tuple[str, click.Command]] = []

    def walk(group: click.Group, words: tuple[str, ...]) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                walk(command, (*words, name))
            else:
                found.append((" ".join((*words, name)), command))

    assert isinstance(app, click.Group)
    walk(app, ())
    return found


def test_every_command_that_takes_a_configuration_takes_a_version() -> None:
    taking = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands()
        if any(param.name == "config_file" for param in command.params)
    }
    assert {"simulate", "run", "deploy render", "what-if"} <= taking.keys()
    for name, options in taking.items():
        assert {"--kubernetes", "--feature-gates"} <= options, name


@pytest.mark.parametrize("version", ORDERS)
def test_configuration_is_completed_for_the_version(version: str) -> None:
    shown = run("config", "show", "config.yaml", "--kubernetes", version, "-o", "json")
    plugins = json.loads(shown.stdout)["profiles"][0]["plugins"]
    names = [plugin["name"] for plugin in plugins["filter"]["enabled"]]
    assert first_two(names) == ORDERS[version]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["--kubernetes", "1.35"],
            "Invalid value for --kubernetes: expected one of 1.36, 1.37, got '1.35'",
            id="unknown version",
        ),
        pytest.param(
            ["--kubernetes", "1.37", "--feature-gates", "VolumeLimitScalin=true"],
            "Invalid value for --feature-gates: VolumeLimitScalin: the scheduler of "
            "1.37 reads no such feature gate; did you mean 'VolumeLimitScaling'?",
            id="unknown gate",
        ),
        pytest.param(
            ["--feature-gates", "VolumeLimitScaling"],
            "Invalid value for --feature-gates: expected GATE=true or GATE=false, got "
            "'VolumeLimitScaling'",
            id="gate without a value",
        ),
        pytest.param(
            ["--feature-gates", "VolumeLimitScaling=yes"],
            "expected GATE=true or GATE=false, got 'VolumeLimitScaling=yes'",
            id="gate with a wrong value",
        ),
        pytest.param(
            ["--kubernetes", "1.37", "--feature-gates", "NodeDeclaredFeatures=false"],
            "NodeDeclaredFeatures: Kubernetes 1.37 locks it to true",
            id="locked gate",
        ),
    ],
)
def test_wrong_value_is_an_error_of_one_line(
    arguments: list[str], message: str
) -> None:
    result = run("simulate", "pod.yaml", *NODES, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_gates_are_written_as_kube_scheduler_has_them() -> None:
    gates = "kube:StorageCapacityScoring=T, VolumeLimitScaling=0,"
    more = "VolumeLimitScaling=true"
    rendered = run(
        *("deploy", "render", "--kubernetes", "1.36"),
        *("--feature-gates", gates, "--feature-gates", more),
    )
    [arguments] = [
        tree["spec"]["template"]["spec"]["containers"][0]["args"]
        for tree in yaml.safe_load_all(rendered.stdout)
        if tree["kind"] == "Deployment"
    ]
    assert "--kubernetes=1.36" in arguments
    written = "StorageCapacityScoring=true,VolumeLimitScaling=true"
    assert f"--feature-gates={written}" in arguments


def test_version_lists_the_supported_versions() -> None:
    output = run("version").stdout
    assert "kube-scheduler 1.36.2, 1.37.2; by default 1.3" in output


@pytest.mark.parametrize("version", ORDERS)
def test_scenario_uses_its_own_version_unless_another_is_given(
    version: str,
) -> None:
    other = next(order for order in ORDERS if order != version)
    Path("s.yaml").write_text(SCENARIO % (version, "StorageCapacityScoring: true"))
    registry = PluginRegistry.discover()
    kubernetes = load_scenario("s.yaml", registry=registry).config.kubernetes
    assert str(kubernetes) == f"{version} (StorageCapacityScoring=true)"
    result = run("scenario", "run", "s.yaml", "--kubernetes", other)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("version", "gates", "message"),
    [
        (
            "1.35",
            "",
            "s.yaml: kubernetesVersion: expected one of 1.36, 1.37, got '1.35'",
        ),
        (
            "1.37",
            "Nothing: true",
            "s.yaml: featureGates: Nothing: the scheduler of 1.37 reads no such",
        ),
    ],
    ids=["version", "gate"],
)
def test_mistake_in_a_scenario_has_its_place(
    version: str, gates: str, message: str
) -> None:
    Path("s.yaml").write_text(SCENARIO % (version, gates))
    with pytest.raises(ScenarioErrors) as caught:
        load_scenario("s.yaml", registry=PluginRegistry.discover())
    assert message in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("config", [(), ("--config", "config.yaml")])
def test_generated_test_contains_the_version(config: tuple[str, ...]) -> None:
    gates = ("--feature-gates", "VolumeLimitScaling=false")
    made = run(
        *("snapshot", "pod.yaml", *NODES, *config, "--pod", "web"),
        *("--kubernetes", "1.37", *gates, "--to-test", "test_it.py"),
    )
    assert made.exit_code == 0, made.output
    text = Path("test_it.py").read_text()
    found: dict[str, object] = {}
    exec(compile(text, "test_it.py", "exec"), found)
    assert str(found["KUBERNETES"]) == "1.37 (VolumeLimitScaling=false)"
    [test] = [value for name, value in found.items() if name.startswith("test_")]
    assert callable(test)
    test()


def test_harness_decides_like_the_version_that_it_is_given() -> None:
    with SchedulerHarness(kubernetes=Kubernetes("1.37")) as harness:
        answer = harness.reload({**yaml.safe_load(YAML_HEADER)})
        harness.settle()
        assert answer.done()
        assert answer.exception() is None
