"""What the inputs of a sweep contain, and its results leave out, is a warning."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.kit.internals.cli import app
from tests.kit.internals.experiments import starvation

EXPERIMENT = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs: [{name: dump, use: manifests, parameters: {files: [dump.yaml]}}]
metrics: [{name: placed}]
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {nodeName: n1, containers: [{name: main, image: web}]}
"""
CRON_JOB = """
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: nightly}]}
"""


def warnings_of(folder: Path, dump: str, experiment: str = EXPERIMENT) -> str:
    (folder / "dump.yaml").write_text(NODE + dump)
    file = folder / "study.yaml"
    file.write_text(experiment)
    words = ["sweep", str(file), "--out", str(folder / "out")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.mark.long
def test_a_sweep_in_which_no_pod_is_tried_gets_a_warning(tmp_path: Path) -> None:
    warnings = warnings_of(tmp_path, POD)
    assert "the scheduler tried no pod, so it placed none" in warnings
    assert warnings.startswith("input dump, profile default, seed ")


@pytest.mark.long
def test_a_sweep_that_places_pods_gets_none(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, POD.replace("nodeName: n1, ", "")) == ""


@pytest.mark.long
def test_objects_of_an_input_that_do_not_run_get_a_warning(tmp_path: Path) -> None:
    pod = POD.replace("nodeName: n1, ", "")
    warnings = warnings_of(tmp_path, pod + CRON_JOB)
    assert "CronJobs do not run, so the pods of their Jobs are missing" in warnings
    assert "tried no pod" not in warnings


# Pods that never run ------------------------------------------------------------------

WAITS = EXPERIMENT.replace("{name: placed}", "{name: wait}") + "seeds: [1, 2, 3]\n"
TOO_LARGE = POD.replace("nodeName: n1, ", "").replace(
    "image: web", 'image: web, resources: {requests: {cpu: "5"}}'
)


@pytest.mark.long
def test_pods_that_never_run_get_one_warning_for_all_runs(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, TOO_LARGE, WAITS) == (
        "input dump, profile default, seed 1, repetition 0 and 2 more runs: 3 pods "
        "still waited at the end: wait.*.at_least are lower bounds, and the other "
        "statistics of wait leave such pods out\n"
    )


@pytest.mark.long
def test_waits_of_pods_that_all_run_get_no_warning(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, POD.replace("nodeName: n1, ", ""), WAITS) == ""


def test_only_runs_with_waiting_pods_count() -> None:
    bounds = {"queue.mean": 1.0, "queue.mean.at_least": 2.0}
    [starved] = starvation(
        [{"queue.censored": count, **bounds} for count in (0, 2, 0, 5)]
    )
    assert (starved.metric, starved.runs, starved.pods) == ("queue", [1, 3], 7)


def test_unfinished_pods_of_other_metrics_do_not_starve() -> None:
    assert not starvation([{"completion.censored": 2, "completion.mean": 1.0}])
