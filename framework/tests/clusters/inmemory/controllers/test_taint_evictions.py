"""Pods on nodes with NoExecute taints, as ``pkg/controller/tainteviction`` treats them.

The first cases mirror ``taint_eviction_test.go`` (Kubernetes v1.37).
"""

from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.manifests import NoticeReason
from quaymaster.objects import NodeCondition, Taint, Toleration
from quaymaster.simulation import simulate
from quaymaster.testing import make_deployment, make_node, make_pod
from tests.kit.clusters import make_cluster, names_of, pass_time, pods_of, schedule

TAINT = Taint(key="maintenance", effect="NoExecute")
OTHER = Taint(key="decommission", effect="NoExecute")
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def cluster_of(*objects: ApiObject) -> InMemoryCluster:
    """Return a cluster with the nodes n0 and n1, whose pods are bound."""
    cluster = make_cluster(*objects, nodes=2)
    schedule(cluster)
    return cluster


def tolerating(taint: Taint, seconds: int | None = None) -> Toleration:
    return Toleration(
        key=taint.key,
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=seconds,
    )


def taint(cluster: InMemoryCluster, *taints: Taint, node: str = "n0") -> None:
    old = cluster.get(Node, node)
    cluster.update(replace(old, spec=replace(old.spec, taints=taints)))
    pass_time(cluster, 0)


def set_ready(cluster: InMemoryCluster, status: str, *names: str) -> None:
    for name in names:
        old = cluster.get(Node, name)
        ready = NodeCondition(type="Ready", status=status)
        cluster.update(replace(old, status=replace(old.status, conditions=(ready,))))
    pass_time(cluster, 0)


def taints_of(cluster: InMemoryCluster, node: str) -> list[str]:
    taints = cluster.get(Node, node).spec.taints
    return [f"{taint.key.partition('/')[2]}:{taint.effect}" for taint in taints]


def is_evicted(cluster: InMemoryCluster, name: str = "p") -> bool:
    return cluster.get(Pod, f"default/{name}").is_terminating


def test_pod_without_a_toleration_is_evicted_at_once() -> None:
    cluster = cluster_of(make_pod(name="p"), make_pod(name="q", node="n1"))
    taint(cluster, TAINT)
    assert is_evicted(cluster)
    assert not is_evicted(cluster, "q")
    conditions = cluster.get(Pod, "default/p").status.conditions
    reasons = {condition.type: condition.reason for condition in conditions}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"


def test_workload_gets_another_pod() -> None:
    cluster = cluster_of(make_deployment(name="web", replicas=1))
    taint(cluster, TAINT)
    old, new = pods_of(cluster)
    assert (old.is_terminating, new.node_name) == (True, "")


def test_pod_with_an_endless_toleration_stays() -> None:
    cluster = cluster_of(make_pod(name="p", tolerations=[tolerating(TAINT)]))
    taint(cluster, TAINT)
    pass_time(cluster, 3600)
    assert not is_evicted(cluster)


def test_pod_is_evicted_when_its_toleration_ends() -> None:
    cluster = cluster_of(make_pod(name="p", tolerations=[tolerating(TAINT, 60)]))
    taint(cluster, TAINT)
    pass_time(cluster, 59)
    assert not is_evicted(cluster)
    pass_time(cluster, 1)
    assert is_evicted(cluster)


def test_shortest_toleration_of_several_taints_counts() -> None:
    tolerations = [tolerating(TAINT, 60), tolerating(OTHER, 20)]
    cluster = cluster_of(make_pod(name="p", tolerations=tolerations))
    taint(cluster, TAINT, OTHER)
    pass_time(cluster, 20)
    assert is_evicted(cluster)


def test_later_taint_does_not_change_the_deadline() -> None:
    """As upstream: a scheduled eviction stays if all taints are tolerated."""
    tolerations = [tolerating(TAINT, 60), tolerating(OTHER, 20)]
    cluster = cluster_of(make_pod(name="p", tolerations=tolerations))
    taint(cluster, TAINT)
    pass_time(cluster, 10)
    taint(cluster, TAINT, OTHER)
    pass_time(cluster, 49)
    assert not is_evicted(cluster)
    pass_time(cluster, 1)
    assert is_evicted(cluster)


def test_later_taint_without_a_toleration_evicts_at_once() -> None:
    cluster = cluster_of(make_pod(name="p", tolerations=[tolerating(TAINT, 60)]))
    taint(cluster, TAINT)
    taint(cluster, TAINT, OTHER)
    assert is_evicted(cluster)


def test_removed_taint_cancels_the_deadline() -> None:
    cluster = cluster_of(make_pod(name="p", tolerations=[tolerating(TAINT, 60)]))
    taint(cluster, TAINT)
    pass_time(cluster, 30)
    taint(cluster)
    pass_time(cluster, 3600)
    assert not is_evicted(cluster)


def test_pod_bound_to_a_tainted_node_is_evicted() -> None:
    cluster = cluster_of()
    taint(cluster, TAINT)
    cluster.bind(cluster.create(make_pod(name="p")), "n0")
    pass_time(cluster, 0)
    assert is_evicted(cluster)


def test_pod_without_a_node_is_left_alone() -> None:
    cluster = make_cluster(make_pod(name="p"), nodes=1)
    taint(cluster, TAINT)
    pass_time(cluster, 60)
    assert not is_evicted(cluster)


def test_taints_of_other_effects_evict_nothing() -> None:
    cluster = cluster_of(make_pod(name="p"))
    taint(cluster, replace(TAINT, effect="NoSchedule"))
    pass_time(cluster, 60)
    assert not is_evicted(cluster)


def test_node_that_is_not_ready_loses_its_pods_after_five_minutes() -> None:
    cluster = cluster_of(make_pod(name="p"))
    set_ready(cluster, "False", "n0")
    both = ["not-ready:NoExecute", "not-ready:NoSchedule"]
    assert sorted(taints_of(cluster, "n0")) == both
    pass_time(cluster, 299)
    assert not is_evicted(cluster)
    pass_time(cluster, 1)
    assert is_evicted(cluster)


def test_taint_follows_the_status_of_the_condition() -> None:
    cluster = cluster_of()
    set_ready(cluster, "False", "n0")
    set_ready(cluster, "Unknown", "n0")
    both = ["unreachable:NoExecute", "unreachable:NoSchedule"]
    assert sorted(taints_of(cluster, "n0")) == both
    set_ready(cluster, "True", "n0")
    assert taints_of(cluster, "n0") == []


def test_second_node_of_a_zone_is_given_up_ten_seconds_later() -> None:
    cluster = make_cluster(nodes=5)
    set_ready(cluster, "False", "n0", "n1")
    assert "not-ready:NoExecute" not in taints_of(cluster, "n1")
    pass_time(cluster, 10)
    assert "not-ready:NoExecute" in taints_of(cluster, "n1")


def test_health_taint_of_a_ready_node_is_removed() -> None:
    cluster = cluster_of(make_pod(name="p"))
    set_ready(cluster, "True", "n0")
    for effect in ("NoSchedule", "NoExecute"):
        taint(cluster, Taint(key=NOT_READY, effect=effect))
        assert taints_of(cluster, "n0") == []
    pass_time(cluster, 3600)
    assert not is_evicted(cluster)


def test_cordon_taint_without_a_cordon_is_removed() -> None:
    cluster = cluster_of()
    taint(cluster, Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule"))
    assert taints_of(cluster, "n0") == []


def test_loaded_node_without_conditions_keeps_its_taints() -> None:
    unreachable = Taint(key=UNREACHABLE, effect="NoExecute")
    node = make_node(name="n0", taints=[unreachable])
    cluster = make_cluster(replace(node, status=replace(node.status, conditions=())))
    pass_time(cluster, 60)
    assert taints_of(cluster, "n0") == ["unreachable:NoExecute"]


def test_terminating_pods_of_a_node_out_of_service_are_removed() -> None:
    cluster = cluster_of(make_pod(name="p"), make_pod(name="q", node="n1"))
    cluster.stop_kubelets(["n0"])
    pass_time(cluster, 3600)
    assert names_of(cluster) == ["p", "q"]
    node = cluster.get(Node, "n0")
    out = Taint(key="node.kubernetes.io/out-of-service", effect="NoExecute")
    taint(cluster, *node.spec.taints, out)
    pass_time(cluster, 20)
    assert names_of(cluster) == ["q"]


def test_node_out_of_service_that_is_ready_keeps_terminating_pods() -> None:
    cluster = cluster_of(make_pod(name="p"))
    set_ready(cluster, "True", "n0")
    out = Taint(key="node.kubernetes.io/out-of-service", effect="NoExecute")
    taint(cluster, out)
    pass_time(cluster, 20)
    assert names_of(cluster) == ["p"]
    pass_time(cluster, 20)
    assert names_of(cluster) == []


def test_pods_of_a_deleted_node_fail_and_go_forty_seconds_later() -> None:
    pod = make_pod(name="p")
    kept = replace(pod, metadata=replace(pod.metadata, finalizers=("example.com/a",)))
    cluster = cluster_of(kept)
    cluster.delete(Node, "n0")
    pass_time(cluster, 39)
    assert not is_evicted(cluster)
    pass_time(cluster, 1)
    stored = cluster.get(Pod, "default/p")
    assert (stored.is_terminating, stored.status.phase) == (True, "Failed")
    assert "DeletionByPodGC" in [each.reason for each in stored.status.conditions]


def test_workload_that_is_evicted_again_and_again_lets_a_simulation_end() -> None:
    """Without a limit, `simulate` would follow the evictions for ever."""
    pod = make_pod(tolerations=[tolerating(TAINT, 30)])
    web = make_deployment(name="web", replicas=2, pod=pod)
    node = make_node(name="n0", taints=[TAINT], capacity={"cpu": "4", "pods": "9"})
    result = simulate([node, web])
    [notice] = result.notices
    assert notice.reason is NoticeReason.REPEATED_EVICTIONS
    assert notice.where.startswith("ReplicaSet default/web-")


def test_many_pods_that_are_evicted_once_are_all_evicted() -> None:
    pods = 50
    pod = make_pod(tolerations=[tolerating(TAINT, 30)])
    web = make_deployment(name="web", replicas=pods, pod=pod)
    cluster = cluster_of(web)
    taint(cluster, TAINT)
    taint(cluster, TAINT, node="n1")
    pass_time(cluster, 30)
    assert sum(pod.is_terminating for pod in pods_of(cluster)) == pods


def test_pod_that_came_before_its_tainted_node_is_evicted() -> None:
    cluster = cluster_of()
    cluster.create(make_pod(name="p", node="late"))
    cluster.create(make_node(name="late", taints=[TAINT]))
    pass_time(cluster, 0)
    assert is_evicted(cluster)
