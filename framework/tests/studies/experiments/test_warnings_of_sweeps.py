"""What the inputs of a sweep contain, and its results leave out, is a warning."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from quaymaster.experiments import parse_experiment, run_cell
from tests.kit.internals.cli import app

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


OWN_METRIC = """
from typing import ClassVar

import attrs

from quaymaster.experiments import Column, Measured, Metric


@attrs.define(kw_only=True, eq=False)
class Delay(Metric):
    columns: ClassVar = [
        Column(name="typical", unit="s", formula="-", leaves_out=["unknown"]),
        Column(name="unknown", unit="pods", formula="-"),
    ]

    def end(self, run):
        return Measured(values={"typical": 1.0, "unknown": 1})
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("metrics", "meaning"),
    [
        ("{name: wait}", "statistics of wait leave such pods out"),
        ("{name: queue, use: wait}", "statistics of queue leave such pods out"),
        (
            "{name: placed}, {name: wait}, {name: completion}",
            "statistics of wait, completion leave such pods out",
        ),
        (
            "{name: own, use: 'own_delay:Delay'}",
            "statistics of own leave such pods out",
        ),
        ("{name: placed}", "the metric wait counts how long"),
    ],
)
def test_pods_that_never_run_get_one_warning_for_all_runs(
    tmp_path: Path, metrics: str, meaning: str
) -> None:
    (tmp_path / "own_delay.py").write_text(OWN_METRIC)
    experiment = WAITS.replace("{name: wait}", metrics)
    first = "input dump, profile default, seed 1, repetition 0 and 2 more runs"
    assert warnings_of(tmp_path, TOO_LARGE, experiment) == (
        f"{first}: pod default/web can never start: it requests cpu 5, and no node has "
        "more than 4\n"
        f"{first}: 3 pods "
        f"still waited at the end: {meaning}\n"
    )


def test_the_first_of_several_pods_that_can_never_start_is_named(
    tmp_path: Path,
) -> None:
    others = TOO_LARGE.replace("web}", "web-2}", 1).replace('"5"', '"1", memory: 9Gi')
    (tmp_path / "dump.yaml").write_text(NODE + others + "---" + TOO_LARGE)
    experiment = parse_experiment(EXPERIMENT, file=str(tmp_path / "study.yaml"))
    [warning] = run_cell(experiment, experiment.cells[0]).warnings
    assert warning == (
        "pod default/web-2 can never start: it requests memory 9Gi, and no node has "
        "more than 8Gi; 1 more pod as well"
    )


@pytest.mark.long
def test_pods_that_all_run_get_no_warning(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, POD.replace("nodeName: n1, ", ""), WAITS) == ""


def test_a_run_has_the_number_of_pods_that_waited_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "dump.yaml").write_text(NODE + TOO_LARGE)
    experiment = parse_experiment(EXPERIMENT, file=str(tmp_path / "study.yaml"))
    assert run_cell(experiment, experiment.cells[0]).waiting == 1
