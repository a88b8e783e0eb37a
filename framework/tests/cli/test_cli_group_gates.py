"""Commands read the feature gates of groups from configurations and from options."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

GANG = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec:
  schedulingPolicy: {gang: {minCount: 3}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: train}
      containers:
      - {name: main, image: busybox, resources: {requests: {cpu: 3}}}
"""
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
config: groups
input:
  nodes: ["2:cpu=4,memory=8Gi"]
  files: [gang.yaml]
"""
NODES = ("--nodes", "2:cpu=4,memory=8Gi")
GATE = ("--feature-gates", "GenericWorkload=true")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gang.yaml").write_text(GANG)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result


def placed(*arguments: str) -> int:
    result = run("simulate", "gang.yaml", *NODES, *arguments, "-o", "json")
    summary = json.loads(result.stdout)["summary"]
    return int(summary["placed"])


ALL_OFF = ",".join(
    f"{gate}=false"
    for gate in (
        "CompositePodGroup",
        "DRAWorkloadResourceClaims",
        "GenericWorkload",
        "PodGroupPreemptionPolicy",
        "TopologyAwareWorkloadScheduling",
        "WorkloadWithJob",
    )
)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param((), 2, id="no gates"),
        pytest.param(GATE, 0, id="the option"),
        pytest.param(("--config", "groups"), 0, id="the shipped profile"),
        pytest.param(("--config", "groups", "--feature-gates", ALL_OFF), 2, id="both"),
    ],
)
def test_gang_is_placed_as_a_whole_or_not_at_all_with_the_gate(
    options: tuple[str, ...], count: int
) -> None:
    assert placed(*options) == count


def test_without_the_gate_a_warning_names_it() -> None:
    stderr = run("simulate", "gang.yaml", *NODES).stderr
    assert "without effect while the feature gate GenericWorkload is off" in stderr


@pytest.mark.long
def test_profiles_with_and_without_groups_are_compared_with_the_same_groups() -> None:
    result = run("compare", "default", "groups", "gang.yaml", *NODES)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["placed", "2", "0", "-2"] in lines


def test_configuration_shows_its_gates() -> None:
    stdout = run("config", "show", "groups").stdout
    assert (
        "featureGates:\n  CompositePodGroup: true\n  DRAWorkloadResourceClaims: true\n"
        in stdout
    )
    assert "ownGates" not in stdout


def test_scenario_reads_its_input_with_the_gates_of_its_configuration() -> None:
    Path("scenario.yaml").write_text(SCENARIO)
    assert "0 of 3 pods placed" in run("scenario", "run", "scenario.yaml").stdout


def test_scenario_reads_its_input_with_the_gates_of_the_command_line() -> None:
    Path("scenario.yaml").write_text(SCENARIO.replace("config: groups\n", ""))
    result = run("scenario", "run", "scenario.yaml", "--config", "groups")
    assert "0 of 3 pods placed" in result.stdout
    assert "dropped" not in result.stderr


def test_steps_of_what_if_read_objects_with_the_gates_of_the_command_line() -> None:
    steps = SCENARIO.replace("config: groups\n", "").replace("[gang.yaml]", "[]")
    steps += "steps: [{at: 1m, apply: {files: [gang.yaml]}}]\n"
    Path("scenario.yaml").write_text(steps)
    command = ("what-if", "--scenario", "scenario.yaml", "--config", "groups")
    result = run(*command, "-o", "json")
    assert len(json.loads(result.stdout)["steps"][0]["pending"]) == 3
