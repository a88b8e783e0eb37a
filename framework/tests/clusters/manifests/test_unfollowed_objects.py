"""Objects and fields that act on pods but are not implemented here get warnings."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster.manifests import load
from quaymaster.objects import Job

POD = "{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"


def messages(folder: Path, text: str, *, custom_kinds: Sequence[str] = ()) -> list[str]:
    path = folder / "in.yaml"
    path.write_text(text)
    return [str(notice) for notice in load([path], custom_kinds=custom_kinds).notices]


@pytest.mark.parametrize(
    ("api_version", "kind", "effect"),
    [
        ("argoproj.io/v1alpha1", "Rollout", "creates pods"),
        ("descheduler/v1alpha2", "DeschedulerPolicy", "evicts or moves pods"),
        ("karpenter.sh/v1", "NodePool", "adds and removes nodes"),
        ("datadoghq.com/v1alpha2", "DatadogPodAutoscaler", "changes the number"),
        ("postgresql.cnpg.io/v1", "Cluster", "creates pods"),
        ("serving.knative.dev/v1", "Service", "creates pods"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication", "creates pods"),
    ],
)
def test_objects_that_act_on_pods_get_a_warning(
    tmp_path: Path, api_version: str, kind: str, effect: str
) -> None:
    text = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"
    (message,) = messages(tmp_path, text)
    assert f"this {kind} ({api_version}) is not followed" in message
    assert effect in message


def test_other_custom_objects_get_none(tmp_path: Path) -> None:
    text = "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: a}\n"
    assert messages(tmp_path, text) == []


VOLCANO = f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: mpi}}
spec:
  minAvailable: 2
  priorityClassName: high
  tasks:
  - {{name: a, replicas: 1, template: {POD}}}
  - {{name: b, replicas: 1, dependsOn: {{name: [a]}}, template: {POD}}}
"""


def test_fields_that_are_not_followed_get_a_warning(tmp_path: Path) -> None:
    gang, order = messages(tmp_path, VOLCANO, custom_kinds=["volcano-job"])
    assert "its pods are scheduled one by one, and not as a group" in gang
    assert "spec.tasks[1].dependsOn: is not followed here" in order


def test_pods_have_the_fields_of_their_volcano_job(tmp_path: Path) -> None:
    own = POD.replace("spec: {", "spec: {schedulerName: own, ")
    path = tmp_path / "in.yaml"
    path.write_text(VOLCANO.replace(POD, own, 1))
    specs = [
        job.spec.template.spec
        for job in load([path], custom_kinds=["volcano-job"]).of(Job)
    ]
    assert [spec.scheduler_name for spec in specs] == ["own", "volcano"]
    assert [spec.priority_class_name for spec in specs] == ["high", "high"]


def test_a_suspended_worker_group_has_no_pods(tmp_path: Path) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: ray}}
spec:
  headGroupSpec: {{template: {POD}}}
  workerGroupSpecs:
  - {{groupName: a, replicas: 2, suspend: true, template: {POD}}}
  - {{groupName: b, replicas: 3, template: {POD}}}
""")
    jobs = load([path], custom_kinds=["raycluster"]).of(Job)
    assert {job.name: job.spec.parallelism for job in jobs} == {
        "ray-head": 1,
        "ray-b": 3,
    }
