"""Input with more objects than memory holds is rejected before their creation."""

from typing import Any

import msgspec
import pytest

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import AdmissionError, NodesSpecError, make_nodes
from quaymaster.objects import KINDS, Deployment, from_wire
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster

LABELS = {"app": "a"}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": LABELS},
    "spec": {
        "containers": [{"name": "a", "image": "x"}],
    },
}


def make(kind: str, name: str = "a", **spec: Any) -> ApiObject:
    selector: Any = (
        LABELS if kind == "ReplicationController" else {"matchLabels": LABELS}
    )
    template: Any = TEMPLATE
    if kind == "Job":
        template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    else:
        spec["selector"] = selector
    metadata = {"name": name, "namespace": "default"}
    tree = {"metadata": metadata, "spec": {"template": template, **spec}}
    return from_wire(tree, KINDS[kind])


def refused(*objects: ApiObject, max_pods: int = 1000) -> list[str]:
    cluster = make_cluster(max_pods=max_pods)
    with pytest.raises(AdmissionError) as caught:
        cluster.load(objects)
    assert not cluster.list(Pod).items
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("Deployment", {"replicas": 2_000_000_000}, "spec.replicas"),
        ("ReplicaSet", {"replicas": 2_000_000_000}, "spec.replicas"),
        ("ReplicationController", {"replicas": 2_000_000_000}, "spec.replicas"),
        ("StatefulSet", {"replicas": 2_000_000_000}, "spec.replicas"),
        ("Job", {"parallelism": 2_000_000_000}, "spec.parallelism"),
        (
            "Job",
            {"parallelism": 2_000_000_000, "completions": 2_000_000_000},
            "spec.parallelism",
        ),
    ],
)
def test_workload_that_asks_for_too_many_pods_is_refused(
    kind: str, spec: dict[str, Any], path: str
) -> None:
    assert refused(make(kind, **spec)) == [
        (
            f"{kind} default/a: {path}: asks for 2000000000 pods, "
            "more than the limit of 1000 (--max-pods raises it)"
        )
    ]


def test_daemon_set_asks_for_a_pod_on_every_node() -> None:
    nodes = [make_node(name=f"n{number}") for number in range(4)]
    (problem,) = refused(make("DaemonSet"), *nodes, max_pods=3)
    assert problem.startswith("DaemonSet default/a: spec.template: asks for 4 pods")


def test_workloads_count_together() -> None:
    small = [make("Deployment", f"d{number}", replicas=300) for number in range(4)]
    (problem,) = refused(*small, make("Deployment", "large", replicas=400))
    assert problem == (
        "Deployment default/large: spec.replicas: asks for 400 pods, and all workloads "
        "together for 1600, more than the limit of 1000 (--max-pods raises it)"
    )


def test_jobs_whose_pods_make_room_for_others_count_them_all() -> None:
    job = make("Job", parallelism=1, completions=2_000_000_000)
    make_cluster(job, max_pods=1)
    tree = msgspec.to_builtins(job.spec)  # type: ignore[attr-defined]  # it is a Job
    annotations = {"simulation.quaymaster.io/run-seconds": "1"}
    tree["template"]["metadata"]["annotations"] = annotations
    (problem,) = refused(
        from_wire({"metadata": {"name": "a"}, "spec": tree}, type(job))
    )
    assert "spec.completions: asks for 2000000000 pods" in problem


def test_replica_set_of_a_deployment_counts_once() -> None:
    deployment = make("Deployment", replicas=10)
    replica_set = make("ReplicaSet", "a-1", replicas=10)
    owner: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment"}
    owner |= {"name": "a", "uid": "u", "controller": True}
    given = [
        with_metadata(deployment, uid="u"),
        with_metadata(replica_set, ownerReferences=[owner]),
    ]
    make_cluster(*given, max_pods=10)


def with_metadata(obj: ApiObject, **fields: object) -> ApiObject:
    tree = msgspec.to_builtins(obj, str_keys=True)
    tree["metadata"].update(fields)
    return from_wire(tree, type(obj))


def test_later_updates_count_too() -> None:
    cluster = make_cluster(make("Deployment", replicas=10), max_pods=10)
    larger = make("Deployment", replicas=11)
    with pytest.raises(AdmissionError, match="asks for 11 pods"):
        cluster.update(larger)
    with pytest.raises(AdmissionError, match="asks for 12 pods"):
        cluster.create(make("Deployment", "b", replicas=12))
    stored = cluster.get(Deployment, "default/a")
    assert stored.spec.replicas == 10


@pytest.mark.parametrize(
    "spec", ["1000000000:cpu=4,memory=8Gi", "60000:cpu=4,memory=8Gi"]
)
def test_too_many_nodes_are_not_created(spec: str) -> None:
    with pytest.raises(NodesSpecError, match=r"more than the limit of 100000 \(--max"):
        make_nodes([spec, spec])


def test_number_of_nodes_with_too_many_digits_is_rejected() -> None:
    with pytest.raises(NodesSpecError, match="expected at most 18 digits"):
        make_nodes(["9" * 5000 + ":cpu=4,memory=8Gi"])


def test_message_about_one_pod_is_in_the_singular() -> None:
    [problem] = refused(make("Deployment"), max_pods=0)
    assert "asks for 1 pod, more than the limit of 0" in problem
    both = [make("Deployment", name) for name in "ab"]
    [problem] = refused(*both, max_pods=1)
    assert "asks for 1 pod, and all workloads together for 2" in problem
