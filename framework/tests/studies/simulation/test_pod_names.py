"""Pods are found by kubectl's names; errors suggest similar names."""

from collections.abc import Mapping

import msgspec
import pytest

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.objects import KINDS, OwnerReference, from_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import PodNotFoundError, explain_pod
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()


def found(name: str, *objects: ApiObject, namespace: str = "") -> str:
    return explain_pod(
        name,
        [make_node(name="n"), *objects],
        config=default_config(REGISTRY),
        registry=REGISTRY,
        namespace=namespace,
    ).pod


def workload(
    kind: str,
    api_version: str,
    name: str,
    namespace: str = "default",
    pod: Mapping[str, object] | None = None,
    **settings: object,
) -> ApiObject:
    labels = {"app": name}
    containers = [{"name": "main", "image": "nginx"}]
    pod = {"containers": containers, **(pod or {})}
    spec: dict[str, object] = {
        "template": {"metadata": {"labels": labels}, "spec": pod},
        **settings,
    }
    if kind == "Job":
        spec["template"] = {"spec": {**pod, "restartPolicy": "Never"}}
    else:
        simple = kind == "ReplicationController"
        spec["selector"] = labels if simple else {"matchLabels": labels}
    metadata = {"name": name, "namespace": namespace}
    tree = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }
    return from_wire(tree, KINDS[kind])


def owned(name: str, api_version: str, kind: str, owner: str) -> Pod:
    """Return a pod whose owner is not in the input."""
    reference = OwnerReference(
        api_version=api_version, kind=kind, name=owner, uid="u", controller=True
    )
    pod = make_pod(name=name)
    metadata = msgspec.structs.replace(pod.metadata, owner_references=(reference,))
    return msgspec.structs.replace(pod, metadata=metadata)


@pytest.mark.parametrize(
    "name", ["p", "default/p", "pod/p", "po/p", "pods/p", "Pod/p", "pods.v1/p"]
)
def test_pod_is_found_by_each_of_its_names(name: str) -> None:
    assert found(name, make_pod(name="p")) == "default/p"


@pytest.mark.parametrize(
    ("names", "kind", "group"),
    [
        (
            "deploy deployment deployments deployment.apps deployments.v1.apps",
            "Deployment",
            "apps/v1",
        ),
        ("sts statefulset statefulsets.apps", "StatefulSet", "apps/v1"),
        ("ds daemonset daemonsets", "DaemonSet", "apps/v1"),
        ("rs replicaset replicasets", "ReplicaSet", "apps/v1"),
        ("rc replicationcontrollers", "ReplicationController", "v1"),
        ("job jobs jobs.batch", "Job", "batch/v1"),
    ],
)
def test_workload_is_found_by_each_of_its_names(
    names: str, kind: str, group: str
) -> None:
    made = workload(kind, group, "w-1")
    for name in names.split():
        assert found(f"{name}/w-1", made).startswith("default/w-1-")


@pytest.mark.parametrize(
    ("name", "pod"),
    [
        ("deploy/web", owned("p", "apps/v1", "ReplicaSet", "web-5d4f")),
        ("cj/tick", owned("p", "batch/v1", "Job", "tick-29000000")),
        ("jobset/train", owned("p", "jobset.x-k8s.io/v1", "JobSet", "train")),
        ("jobsets.jobset.x-k8s.io/t", owned("p", "jobset.x-k8s.io/v1", "JobSet", "t")),
    ],
)
def test_pod_is_found_by_an_owner_that_is_not_in_the_input(name: str, pod: Pod) -> None:
    assert found(name, pod) == "default/p"


def test_replica_set_without_an_owner_is_not_a_deployment() -> None:
    with pytest.raises(PodNotFoundError, match="no such Deployment"):
        found("deploy/web", workload("ReplicaSet", "apps/v1", "web-1"))


def test_pod_of_a_namespace_with_a_kinds_name_wins() -> None:
    pods = make_pod(name="web", namespace="job"), workload("Job", "batch/v1", "web")
    assert found("job/web", *pods) == "job/web"


def test_namespace_restricts_the_search() -> None:
    both = [workload("Deployment", "apps/v1", "web", name) for name in ("blue", "red")]
    assert found("deploy/web", *both, namespace="red").startswith("red/web-")
    pods = [make_pod(name="p", namespace=name) for name in ("blue", "red")]
    assert found("p", *pods, namespace="red") == "red/p"
    assert found("pod/p", *pods, namespace="blue") == "blue/p"
    assert found("red/deploy/web", *both).startswith("red/web-")
    assert found("red/pod/p", *pods) == "red/p"


def test_two_namespaces_that_differ_are_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="it is not in the namespace blue"):
        found("red/pod/p", make_pod(name="p", namespace="red"), namespace="blue")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wbe", r"pod 'wbe': no such pod; did you mean deployment/web\?"),
        ("web", r"no such pod; did you mean deployment/web or default/web-[a-z0-9-]+"),
        ("default/singel", r"no such pod; did you mean default/single\?"),
        ("deploy/wbe", r"no such Deployment; did you mean deployment/web\?"),
        ("deploy/none", "the Deployment has no pods"),
        ("deploy/twice", "2 namespaces have it: default, red; name one"),
        ("a/b/c/d", "expected NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME"),
        ("deploy/", "expected NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME"),
        ("zzzzzz", "pod 'zzzzzz': no such pod$"),
    ],
)
def test_error_for_a_missing_name_suggests_similar_ones(
    name: str, message: str
) -> None:
    empty = workload("Deployment", "apps/v1", "none", replicas=0)
    objects = [
        workload("Deployment", "apps/v1", "web"),
        workload("Deployment", "apps/v1", "twice"),
        workload("Deployment", "apps/v1", "twice", "red"),
        make_pod(name="single"),
        empty,
    ]
    with pytest.raises(PodNotFoundError, match=message):
        found(name, *objects)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("deploy/w", "Deployment"), ("rs/w", "ReplicaSet"), ("job/w", "Job")],
)
def test_error_for_a_workload_shows_why_its_pods_are_rejected(
    name: str, kind: str
) -> None:
    version = "batch/v1" if kind == "Job" else "apps/v1"
    made = workload(kind, version, "w", pod={"priorityClassName": "nosuch"})
    message = rf"the {kind} has no pods: 1 pod was not created: .*nosuch was found"
    with pytest.raises(PodNotFoundError, match=message):
        found(name, made)


@pytest.mark.parametrize(
    ("name", "namespace", "message"),
    [
        (
            "db-4",
            "",
            "pod 'db-4': it waits: StatefulSet db makes it once db-0 is ready",
        ),
        ("po/db-1", "default", "it waits: StatefulSet db makes it once db-0 is ready"),
        ("default/db-1", "", "it waits: StatefulSet db makes it once db-0 is ready"),
        ("db-5", "", "no such pod; did you mean"),
        ("db-01", "", "no such pod; did you mean"),
        ("db-1", "red", "no such pod"),
        ("red/db-1", "", "no such pod"),
        ("sts/db-1", "", "no such StatefulSet"),
    ],
)
def test_error_for_a_missing_replica_shows_what_it_waits_for(
    name: str, namespace: str, message: str
) -> None:
    needy = {"nodeSelector": {"disk": "none"}}
    db = workload("StatefulSet", "apps/v1", "db", pod=needy, replicas=5)
    with pytest.raises(PodNotFoundError, match=message):
        found(name, db, namespace=namespace)


@pytest.mark.parametrize(
    ("name", "policy", "message"),
    [
        ("db-0", "OrderedReady", "pod 'db-0': it was not created: exceeded quota: q"),
        ("db-1", "OrderedReady", "once db-0 is ready; db-0 was not created: exceeded"),
        ("db-1", "Parallel", "pod 'db-1': it was not created: exceeded quota: q"),
    ],
)
def test_error_for_a_rejected_replica_shows_the_reason(
    name: str, policy: str, message: str
) -> None:
    quota = from_wire(
        {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}},
        KINDS["ResourceQuota"],
    )
    db = workload(
        "StatefulSet", "apps/v1", "db", replicas=2, podManagementPolicy=policy
    )
    with pytest.raises(PodNotFoundError, match=message):
        found(name, quota, db)
