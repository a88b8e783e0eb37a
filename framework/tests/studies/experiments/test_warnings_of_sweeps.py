"""What the inputs of a sweep contain, and its results leave out, is a warning."""

from pathlib import Path

import pytest
from click.testing import CliRunner

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


def warnings_of(folder: Path, dump: str) -> str:
    (folder / "dump.yaml").write_text(NODE + dump)
    file = folder / "study.yaml"
    file.write_text(EXPERIMENT)
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
