"""Pods of Argo Rollouts, CloneSets and PyTorchJobs run by shipped mappings."""

from pathlib import Path

from quaymaster.manifests import load
from quaymaster.objects import Job

POD = "{spec: {containers: [{name: c, image: i}]}}"
CLONE_SET = f"""
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {{name: web}}
spec: {{replicas: 3, template: {POD}}}
"""
ROLLOUT = f"""
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {{name: web}}
spec:
  template: {POD}
  strategy: {{canary: {{steps: [{{setWeight: 20}}]}}}}
"""
REFERRING_ROLLOUT = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web}
spec:
  replicas: 5
  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web}
"""
PYTORCH_JOB = f"""
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: train}}
spec:
  pytorchReplicaSpecs:
    Master: {{template: {POD}}}
    Worker: {{replicas: 4, restartPolicy: OnFailure, template: {POD}}}
"""


def loaded(folder: Path, text: str, mapping: str) -> tuple[dict[str, Job], list[str]]:
    """Return the Jobs by name, and the paths of fields with a warning."""
    path = folder / "in.yaml"
    path.write_text(text)
    result = load([path], custom_kinds=[mapping])
    jobs = {job.name: job for job in result.of(Job)}
    return jobs, [notice.path for notice in result.notices]


def test_clone_set_runs_its_replicas(tmp_path: Path) -> None:
    jobs, warnings = loaded(tmp_path, CLONE_SET, "cloneset")
    assert {name: job.spec.parallelism for name, job in jobs.items()} == {"web": 3}
    assert warnings == []


def test_rollout_without_replicas_runs_a_pod_whatever_its_steps(tmp_path: Path) -> None:
    jobs, warnings = loaded(tmp_path, ROLLOUT, "argo-rollout")
    assert {name: job.spec.parallelism for name, job in jobs.items()} == {"web": 1}
    assert warnings == ["spec.strategy.canary.steps"]


def test_rollout_with_the_template_of_a_deployment_gets_a_warning(
    tmp_path: Path,
) -> None:
    jobs, warnings = loaded(tmp_path, REFERRING_ROLLOUT, "argo-rollout")
    assert jobs == {}
    assert warnings == ["spec.workloadRef"]


def test_pytorch_job_runs_its_master_and_workers(tmp_path: Path) -> None:
    jobs, warnings = loaded(tmp_path, PYTORCH_JOB, "pytorchjob")
    counts = {name: job.spec.parallelism for name, job in jobs.items()}
    assert counts == {"train-master": 1, "train-worker": 4}
    labels = jobs["train-worker"].spec.template.metadata.labels
    assert labels["training.kubeflow.org/replica-type"] == "worker"
    assert labels["training.kubeflow.org/job-name"] == "train"
    assert warnings == []


def test_suspended_pytorch_job_runs_no_pods(tmp_path: Path) -> None:
    text = PYTORCH_JOB.replace("spec:\n", "spec:\n  runPolicy: {suspend: true}\n", 1)
    assert loaded(tmp_path, text, "pytorchjob") == ({}, [])
