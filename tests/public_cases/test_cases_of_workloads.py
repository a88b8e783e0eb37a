"""Questions about workloads that other controllers create or size."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.kit.internals.cli import app

FOLDER = Path(__file__).parent
VOLCANO = FOLDER / "44-volcano-job-scheduler-name" / "job.yaml"
AUTOSCALED = FOLDER / "45-autoscaler-without-replicas" / "hpa.yaml"
VERTICAL = FOLDER / "47-vertical-autoscaler" / "vpa.yaml"
KEDA = FOLDER / "46-keda-without-replicas" / "keda.yaml"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def volcano(path: Path) -> Result:
    nodes = "1:cpu=2,memory=4Gi"
    return run("simulate", path, "--custom-kinds", "volcano-job", "--nodes", nodes)


def test_pods_of_a_volcano_job_need_the_class_of_the_job() -> None:
    result = volcano(VOLCANO)
    assert "no PriorityClass with name batch-high was found" in result.stderr
    assert "0 of 0 pods placed" in result.stdout


def test_pods_of_a_volcano_job_wait_for_the_scheduler_of_the_job(
    tmp_path: Path,
) -> None:
    text = VOLCANO.read_text().replace("  priorityClassName: batch-high\n", "")
    path = tmp_path / "job.yaml"
    path.write_text(text)
    result = volcano(path)
    assert "0 of 6 pods placed" in result.stdout
    assert "schedulers" in result.stderr
    assert "not as a group, while the feature gate GenericWorkload" in result.stderr


@pytest.mark.long
def test_an_autoscaler_decides_about_a_deployment_without_replicas() -> None:
    nodes = "2:cpu=4,memory=8Gi"
    simulated = run("simulate", AUTOSCALED, "--nodes", nodes, "--strict", "-o", "json")
    assert simulated.exit_code == 0
    assert len(json.loads(simulated.stdout)["placements"]) == 12
    planned = run("plan", AUTOSCALED, "--node-group", "cpu=4,memory=8Gi")
    assert "plan: 2 more nodes" in planned.stdout


@pytest.mark.parametrize(("size", "count"), [("min", 12), ("max", 40)])
def test_an_autoscaler_may_be_asked_for_its_limits(size: str, count: int) -> None:
    result = run("simulate", AUTOSCALED, "--nodes", "6:cpu=4,memory=8Gi", "--hpa", size)
    assert f"of {count} pods placed" in result.stdout


@pytest.mark.parametrize(("size", "count"), [("as-it-is", 3), ("min", 3), ("max", 10)])
def test_keda_decides_about_workloads_and_jobs(size: str, count: int) -> None:
    nodes = "6:cpu=4,memory=8Gi"
    result = run("simulate", KEDA, "--nodes", nodes, "--hpa", size, "--strict")
    assert result.exit_code == 0
    assert f"{count} of {count} pods placed" in result.stdout


def test_a_workload_that_keda_scales_to_none_has_no_pods(tmp_path: Path) -> None:
    path = tmp_path / "keda.yaml"
    path.write_text(KEDA.read_text().replace("  minReplicaCount: 3\n", ""))
    nodes = "6:cpu=4,memory=8Gi"
    least = run("simulate", path, "--nodes", nodes, "--hpa", "min")
    assert "0 of 0 pods placed" in least.stdout
    as_it_is = run("simulate", path, "--nodes", nodes)
    assert "1 of 1 pods placed" in as_it_is.stdout


@pytest.mark.parametrize(
    ("choice", "placed"), [("ignore", 3), ("target", 3), ("upper", 2)]
)
def test_recommendations_decide_about_new_pods(choice: str, placed: int) -> None:
    nodes = "1:cpu=2,memory=8Gi"
    result = run("simulate", VERTICAL, "--nodes", nodes, "--vpa", choice, "--strict")
    assert f"{placed} of 3 pods placed" in result.stdout
    is_warned = "its recommendation changes what new pods request" in result.stderr
    assert is_warned == (choice == "ignore") == (result.exit_code == 1)


def test_a_recommendation_without_effect_gets_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "vpa.yaml"
    path.write_text(VERTICAL.read_text().replace("Recreate", '"Off"'))
    result = run("simulate", path, "--nodes", "1:cpu=2,memory=8Gi", "--strict")
    assert result.exit_code == 0


SCENARIO = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input:
  nodes: ["1:cpu=2,memory=8Gi"]
  files: [{file}]
  vpa: {choice}
assertions: [{{name: all, placed: {{pods: {{selector: app=api}}}}}}]
"""


@pytest.mark.parametrize(("choice", "passes"), [("target", True), ("upper", False)])
def test_scenarios_choose_a_recommendation(
    tmp_path: Path, choice: str, passes: bool
) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.format(file=VERTICAL, choice=choice))
    result = run("scenario", "run", path)
    assert (result.exit_code == 0) == passes


STEPS = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Scenario
input: {{nodes: ["3:cpu=4,memory=8Gi"], files: [{file}]}}
steps:
- at: 1m
  patch: {{target: scaledobject/consumer, patch: {{spec: {{minReplicaCount: 5}}}}}}
- at: 3m
  check: {{pods: {{pods: {{selector: app=consumer}}, state: Running, equals: 5}}}}
- {{at: 4m, delete: {{target: scaledobject/consumer}}}}
- {{at: 5m, scale: {{target: deploy/consumer, replicas: 0}}}}
- at: 8m
  check: {{pods: {{pods: {{selector: app=consumer}}, state: Running, equals: 0}}}}
"""


def test_steps_change_and_delete_the_objects_of_keda(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(STEPS.format(file=KEDA))
    result = run("scenario", "run", path, "--strict")
    assert result.exit_code == 0
    assert "2 of 2 assertions hold" in result.stdout
