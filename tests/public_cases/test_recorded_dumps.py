"""Dumps that real servers made of k3s, kind and minikube pass through commands.

Each is ``kubectl get all,nodes,pv,pvc,sc,... -A -o json`` of a cluster with the system
pods of that distribution, a StatefulSet with a disk, a Deployment and a CronJob.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app

DUMPS = Path(__file__).parent / "dumps"
NODES = {"k3s": "k3s-agent", "kind": "kind-worker", "minikube": "minikube"}
SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input: {files: [DUMP]}
steps:
- {at: 1m, setImage: {target: deploy/web, image: "nginx:2"}}
- {after: 1m, scale: {target: deploy/web, replicas: 5}}
- {after: 1m, drain: {nodes: NODE, timeout: 1m}}
- {after: 5m, delete: {target: sts/postgres}}
assertions:
- pods: {state: Running, atLeast: 1}
"""
NEW_PODS = """
apiVersion: batch/v1
kind: Job
metadata: {name: build}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
"""
EXPERIMENT = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs:
- {name: dump, parameters: {files: [DUMP, new.yaml]}}
metrics: [{name: placed}]
"""
TUNING = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Tuning
experiment: experiment.yaml
profile: default
search:
- name: balance
  config: profiles[0].plugins.multiPoint.enabled[NodeResourcesBalancedAllocation].weight
  integers: {lowest: 1, highest: 20}
objectives: [{metric: placed, goal: max}]
heldOut: {seeds: [101]}
trials: 2
"""
COMMANDS = (
    ("simulate", "DUMP", "--report", "report.html"),
    ("explain", "postgres-0", "DUMP"),
    ("capacity", "DUMP", "--fit", "deploy/web"),
    ("plan", "DUMP", "--node-group", "cpu=2,memory=4Gi"),
    ("what-if", "DUMP", "--drain", "NODE", "--drain-timeout", "1m"),
    ("what-if", "DUMP", "--set-image", "deploy/web=nginx:2"),
    ("compare", "default", "bin-packing", "DUMP"),
    ("snapshot", "DUMP", "-o", "snapshot.yaml"),
    ("scenario", "run", "scenario.yaml"),
)


@pytest.fixture(params=NODES)
def words(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Return the values of placeholders, in a folder with files."""
    dump = str(DUMPS / f"{request.param}.json.gz")
    node = NODES[request.param]
    monkeypatch.chdir(tmp_path)
    scenario = SCENARIO.replace("DUMP", dump).replace("NODE", node)
    Path("scenario.yaml").write_text(scenario)
    Path("new.yaml").write_text(NEW_PODS)
    Path("experiment.yaml").write_text(EXPERIMENT.replace("DUMP", dump))
    Path("tuning.yaml").write_text(TUNING)
    return {"DUMP": dump, "NODE": node}


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_recorded_dump_passes_through_a_command(
    words: dict[str, str], command: tuple[str, ...]
) -> None:
    result = CliRunner().invoke(app, [words.get(word, word) for word in command])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("words", ["kind"], indirect=True)
def test_recorded_dump_is_simulated_as_it_is(words: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["simulate", words["DUMP"]])
    assert result.exit_code == 0, result.output
    assert "all had it in the input, and no pod was pending" in result.output


@pytest.mark.long
def test_sweep_adds_new_pods_to_a_dump(words: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["sweep", "experiment.yaml", "--workers", "1"])
    assert result.exit_code == 0, result.output
    assert "0 failed" in result.output


@pytest.mark.long
@pytest.mark.parametrize("words", ["k3s"], indirect=True)
def test_tuning_runs_on_a_dump(words: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["tune", "tuning.yaml", "--workers", "1"])
    assert "PLACED, HELD OUT" in result.output
