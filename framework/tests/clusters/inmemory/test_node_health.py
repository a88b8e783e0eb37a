"""Nodes that do not answer are handled as by ``pkg/controller/nodelifecycle``.

The times are those of kube-controller-manager's default flags (Kubernetes v1.36).
"""

from collections.abc import Sequence

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import NotFoundError
from quaymaster.config import KUBERNETES_VERSIONS, Kubernetes
from quaymaster.inmemory import HealthObserver, InMemoryCluster
from quaymaster.objects import Toleration
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_node,
    make_pod,
    make_stateful_set,
)
from tests.kit.clusters import make_cluster, pass_time, pods_of, schedule

ZONE = "topology.kubernetes.io/zone"
UNREACHABLE = "node.kubernetes.io/unreachable"
FOREVER = Toleration(key=UNREACHABLE, operator="Exists", effect="NoExecute")


def cluster_of(
    *objects: ApiObject, zones: Sequence[str] = ("a", "b")
) -> InMemoryCluster:
    """Return a cluster with one node for each given zone: ``n0`` and so on."""
    nodes = [
        make_node(name=f"n{index}", labels={ZONE: zone})
        for index, zone in enumerate(zones)
    ]
    cluster = make_cluster(*nodes, *objects)
    schedule(cluster)
    return cluster


def effects(cluster: InMemoryCluster, name: str) -> list[str]:
    """Return the effects of the taints of a node that does not answer."""
    taints = cluster.get(Node, name).spec.taints
    return [taint.effect for taint in taints if taint.key == UNREACHABLE]


def readiness(cluster: InMemoryCluster, pod: str) -> list[str]:
    conditions = cluster.get(Pod, f"default/{pod}").status.conditions
    return [condition.status for condition in conditions if condition.type == "Ready"]


def executed(cluster: InMemoryCluster) -> list[str]:
    """Return the nodes whose pods are evicted."""
    return [
        node.name
        for node in cluster.list(Node).items
        if "NoExecute" in effects(cluster, node.name)
    ]


def test_a_cluster_notices_a_silent_node_after_fifty_seconds() -> None:
    cluster = cluster_of(make_pod(name="p", node="n0"))
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 49)
    assert effects(cluster, "n0") == []
    assert readiness(cluster, "p") == ["True"]
    pass_time(cluster, 1)
    assert effects(cluster, "n0") == ["NoSchedule", "NoExecute"]
    assert readiness(cluster, "p") == ["False"]
    [ready] = cluster.get(Node, "n0").status.conditions
    assert (ready.type, ready.status, ready.reason) == (
        "Ready",
        "Unknown",
        "NodeStatusUnknown",
    )


def test_a_pod_is_evicted_after_its_toleration_and_replaced_at_once() -> None:
    cluster = cluster_of(make_deployment(name="web", replicas=1))
    deleted: list[str] = []
    observer = HealthObserver(deleted=lambda pod: deleted.append(pod.name))
    cluster.stop_kubelets(["n0"], observer)
    pass_time(cluster, 349)
    [pod] = pods_of(cluster)
    assert not pod.is_terminating
    pass_time(cluster, 1)
    assert deleted == [pod.name]
    old, new = pods_of(cluster)
    assert old.is_terminating
    assert new.node_name == ""
    assert "DeletionByTaintManager" in [
        condition.reason for condition in old.status.conditions
    ]


def test_the_successor_in_a_stateful_set_waits_until_the_node_is_deleted() -> None:
    cluster = cluster_of(make_stateful_set(name="db", replicas=1))
    uid = pods_of(cluster)[0].uid
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 3600)
    [pod] = pods_of(cluster)
    assert pod.is_terminating
    cluster.delete(Node, "n0")
    pass_time(cluster, 40)
    [pod] = pods_of(cluster)
    assert pod.uid != uid
    assert pod.node_name == ""


def test_pods_that_tolerate_it_for_ever_stay_and_are_ready_again_later() -> None:
    cluster = cluster_of(
        make_pod(name="p", node="n0", tolerations=[FOREVER]), make_daemon_set()
    )
    before = {pod.uid for pod in pods_of(cluster)}
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 3600)
    assert {pod.uid for pod in pods_of(cluster)} == before
    cluster.start_kubelets(["n0"])
    pass_time(cluster, 0)
    assert effects(cluster, "n0") == []
    assert readiness(cluster, "p") == ["True"]
    assert cluster.silent_nodes == frozenset()


def test_a_node_that_answers_in_time_keeps_its_pods() -> None:
    cluster = cluster_of(make_pod(name="p", node="n0"))
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 200)
    cluster.start_kubelets(["n0"])
    pass_time(cluster, 3600)
    [pod] = pods_of(cluster)
    assert not pod.is_terminating
    assert readiness(cluster, "p") == ["True"]


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_a_node_that_renews_its_lease_in_time_is_never_lost(version: str) -> None:
    """As with NodeControllerLeaseCircuitBreaker: the lease itself is read."""
    cluster = make_cluster(
        make_node(name="n0"),
        make_pod(name="p", node="n0"),
        kubernetes=Kubernetes(version),
    )
    before = cluster.get(Node, "n0")
    for _ in range(3):
        cluster.stop_kubelets(["n0"])
        pass_time(cluster, 49.9)
        cluster.start_kubelets(["n0"])
    pass_time(cluster, 3600)
    assert cluster.get(Node, "n0").spec == before.spec
    assert readiness(cluster, "p") == ["True"]


def test_a_node_that_answers_late_ends_what_was_deleted() -> None:
    cluster = cluster_of(make_pod(name="p", node="n0"), make_pod(name="q", node="n1"))
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 3600)
    assert len(pods_of(cluster)) == 2
    cluster.start_kubelets(["n0"])
    assert [pod.name for pod in pods_of(cluster)] == ["q"]


def test_a_pod_bound_to_a_silent_node_starts_when_the_node_is_back() -> None:
    cluster = cluster_of()
    cluster.stop_kubelets(["n0"])
    pod = cluster.create(make_pod(name="p"))
    cluster.bind(pod, "n0")
    assert cluster.get(Pod, "default/p").status.phase == "Pending"
    cluster.start_kubelets(["n0"])
    assert cluster.get(Pod, "default/p").status.phase == "Running"


def test_a_zone_loses_one_node_every_ten_seconds_if_it_is_lost_as_a_whole() -> None:
    cluster = cluster_of(zones=("a", "a", "a", "b"))
    cluster.stop_kubelets(["n0", "n1", "n2"])
    pass_time(cluster, 50)
    assert executed(cluster) == ["n0"]
    pass_time(cluster, 10)
    assert executed(cluster) == ["n0", "n1"]
    pass_time(cluster, 10)
    assert executed(cluster) == ["n0", "n1", "n2"]


def test_no_pod_goes_where_most_of_a_small_zone_is_lost() -> None:
    notices: list[str] = []
    cluster = cluster_of(zones=("a", "a", "a", "a", "b"))
    cluster.stop_kubelets(["n0", "n1", "n2"], HealthObserver(told=notices.append))
    pass_time(cluster, 3600)
    assert executed(cluster) == []
    assert notices[0].startswith("3 of 4 nodes of zone a do not answer")


def test_pods_of_a_large_zone_that_is_mostly_lost_go_slowly() -> None:
    cluster = cluster_of(zones=["a"] * 60)
    cluster.stop_kubelets([f"n{index}" for index in range(40)])
    pass_time(cluster, 50 + 300)
    assert len(executed(cluster)) == 4


def test_no_pod_goes_while_no_node_answers() -> None:
    cluster = cluster_of(make_pod(name="p", node="n0"))
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 100)
    assert executed(cluster) == ["n0"]
    cluster.stop_kubelets(["n1"])
    pass_time(cluster, 3600)
    assert executed(cluster) == []
    assert not pods_of(cluster)[0].is_terminating
    cluster.start_kubelets(["n1"])
    # The rate of the zone was 0, so its first taint takes ten seconds more.
    pass_time(cluster, 309)
    assert not pods_of(cluster)[0].is_terminating
    pass_time(cluster, 1)
    assert pods_of(cluster)[0].is_terminating


def test_another_node_of_the_same_name_is_not_silent() -> None:
    cluster = cluster_of()
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 60)
    cluster.delete(Node, "n0")
    cluster.create(make_node(name="n0"))
    pass_time(cluster, 3600)
    assert cluster.silent_nodes == frozenset()
    assert effects(cluster, "n0") == []


def test_an_unknown_node_is_rejected_and_nothing_changes() -> None:
    cluster = cluster_of()
    with pytest.raises(NotFoundError):
        cluster.stop_kubelets(["n0", "n9"])
    assert cluster.silent_nodes == frozenset()
