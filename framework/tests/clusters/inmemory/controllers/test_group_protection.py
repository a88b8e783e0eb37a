"""A deleted PodGroup stays while pods use it.

Cases follow upstream's ``pkg/controller/scheduling/podgroupprotection`` (Kubernetes
v1.37).
"""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodGroup
from quaymaster.testing import make_node, make_pod, make_pod_group
from tests.kit.clusters import make_cluster, pass_time
from tests.kit.internals.groups import kubernetes_with_groups

KEY = "default/group"


def cluster_with(*pods: Pod) -> InMemoryCluster:
    cluster = make_cluster(kubernetes=kubernetes_with_groups())
    cluster.create(make_node(name="node"))
    cluster.create(make_pod_group(min_count=2))
    for pod in pods:
        cluster.create(pod)
    return cluster


def member(name: str, **spec: str) -> Pod:
    return make_pod(name=name, scheduling_group="group", **spec)  # type: ignore[arg-type]  # texts only


def delete_group(cluster: InMemoryCluster) -> None:
    cluster.delete(PodGroup, KEY)
    pass_time(cluster, 0)


def is_there(cluster: InMemoryCluster) -> bool:
    return any(group.key == KEY for group in cluster.list(PodGroup).items)


def test_group_without_pods_goes_at_once() -> None:
    cluster = cluster_with(make_pod(name="other"))
    delete_group(cluster)
    assert not is_there(cluster)


def test_group_stays_until_its_last_pod_is_deleted() -> None:
    cluster = cluster_with(member("a"), member("b"))
    delete_group(cluster)
    assert cluster.get(PodGroup, KEY).metadata.deletion_timestamp is not None
    cluster.delete(Pod, "default/a")
    pass_time(cluster, 0)
    assert is_there(cluster)
    cluster.delete(Pod, "default/b")
    pass_time(cluster, 0)
    assert not is_there(cluster)


def test_pod_that_has_ended_does_not_use_its_group() -> None:
    cluster = cluster_with(member("a", node="node"))
    delete_group(cluster)
    assert is_there(cluster)
    pod = cluster.get(Pod, "default/a")
    cluster.patch_status(pod, {"phase": "Succeeded"})
    pass_time(cluster, 0)
    assert not is_there(cluster)


def test_pod_that_comes_later_keeps_the_group() -> None:
    cluster = cluster_with(member("a"))
    delete_group(cluster)
    cluster.create(member("b"))
    cluster.delete(Pod, "default/a")
    pass_time(cluster, 0)
    assert is_there(cluster)


def test_group_with_another_finalizer_only_loses_its_protection() -> None:
    cluster = cluster_with()
    group = cluster.get(PodGroup, KEY)
    metadata = replace(
        group.metadata, finalizers=(*group.metadata.finalizers, "example.com/mine")
    )
    cluster.update(replace(group, metadata=metadata))
    delete_group(cluster)
    assert cluster.get(PodGroup, KEY).metadata.finalizers == ("example.com/mine",)
