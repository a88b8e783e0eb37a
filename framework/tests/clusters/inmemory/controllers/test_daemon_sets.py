"""DaemonSets of the in-memory cluster."""

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.config import Kubernetes
from quaymaster.objects import DaemonSet, PodSpec, Taint, Toleration
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.clusters import make_cluster, pods_of, react, schedule, target_of
from tests.kit.workloads import LABELS, make_daemon_set, make_template


def test_every_node_gets_one_pod_that_is_bound_to_it() -> None:
    cluster = make_cluster(make_daemon_set(), nodes=3)
    assert [target_of(pod) for pod in pods_of(cluster)] == ["n0", "n1", "n2"]
    assert {pod.node_name for pod in pods_of(cluster)} == {""}


def test_pods_of_a_daemon_set_stay_on_nodes_in_trouble() -> None:
    (pod,) = pods_of(make_cluster(make_daemon_set(), nodes=1))
    tolerated = {(t.key, t.effect) for t in pod.spec.tolerations}
    assert tolerated == {
        (f"node.kubernetes.io/{trouble}", effect)
        for trouble, effect in (
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
        )
    }
    assert all(t.toleration_seconds is None for t in pod.spec.tolerations)


def test_pods_on_the_host_network_need_no_network() -> None:
    (pod,) = pods_of(
        make_cluster(
            make_daemon_set(make_template(PodSpec(host_network=True))), nodes=1
        )
    )
    keys = [toleration.key for toleration in pod.spec.tolerations]
    assert "node.kubernetes.io/network-unavailable" in keys


def test_only_nodes_that_suit_get_a_pod() -> None:
    cluster = make_cluster(
        make_node(name="tainted", taints=["only=ml:NoSchedule"]),
        make_node(name="soft", taints=["old:PreferNoSchedule"], labels={"a": "b"}),
        make_node(name="cordoned", labels={"a": "b"}, unschedulable=True),
        make_daemon_set(make_template(PodSpec(node_selector={"a": "b"}))),
        nodes=1,
    )
    assert [target_of(pod) for pod in pods_of(cluster)] == ["soft", "cordoned"]


@pytest.mark.parametrize(("level", "pods"), [("950", 1), ("700", 0), ("fast", 0)])
def test_tolerations_that_compare_numbers_follow_their_gate(
    level: str, pods: int
) -> None:
    """As ``predicates`` of ``pkg/controller/daemon/daemon_controller.go``."""
    faster = Toleration(key="sla", operator="Gt", value="750")
    node = make_node(name="a", taints=[f"sla={level}:NoExecute"])
    gates = {"TaintTolerationComparisonOperators": True}
    cluster = make_cluster(
        node,
        make_daemon_set(make_template(PodSpec(tolerations=(faster,)))),
        kubernetes=Kubernetes(feature_gates=gates),
    )
    assert len(pods_of(cluster)) == pods
    schedule(cluster)
    slow = Taint(key="sla", value="1", effect="NoExecute")
    stored = cluster.get(Node, "a")
    cluster.update(replace(stored, spec=replace(stored.spec, taints=(slow,))))
    react(cluster)
    assert not [pod for pod in pods_of(cluster) if not pod.is_terminating]


def test_new_node_gets_a_pod() -> None:
    cluster = make_cluster(make_daemon_set(), nodes=1)
    cluster.create(make_node(name="new"))
    react(cluster)
    assert [target_of(pod) for pod in pods_of(cluster)] == ["n0", "new"]


def test_node_that_no_longer_suits_loses_its_pod() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_daemon_set(), clock=clock, nodes=2)
    for pod in pods_of(cluster):
        cluster.bind(pod, target_of(pod))
    node = cluster.get(Node, "n1")
    for effect, left in (("NoSchedule", 2), ("NoExecute", 1)):
        node = cluster.get(Node, "n1")
        spec = replace(node.spec, taints=(Taint(key="gone", effect=effect),))
        cluster.update(replace(node, spec=spec))
        clock.advance(30.0)
        assert len(pods_of(cluster)) == left


def test_node_that_comes_to_suit_gets_a_pod() -> None:
    cluster = make_cluster(
        make_daemon_set(make_template(PodSpec(node_selector={"a": "b"}))), nodes=1
    )
    assert pods_of(cluster) == []
    node = cluster.get(Node, "n0")
    metadata = replace(node.metadata, labels={"a": "b"})
    cluster.update(replace(node, metadata=metadata))
    react(cluster)
    assert [target_of(pod) for pod in pods_of(cluster)] == ["n0"]


def test_failed_pod_and_second_pod_of_a_node_are_deleted() -> None:
    cluster = make_cluster(make_daemon_set(), nodes=1)
    schedule(cluster)
    (pod,) = pods_of(cluster)
    cluster.create(make_pod(name="mine", labels=LABELS, node="n0"))
    react(cluster)
    running = [p.name for p in pods_of(cluster) if not p.is_terminating]
    assert running == [pod.name]
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    react(cluster)
    cluster.delete(Pod, "default/mine", grace_period_seconds=0)
    react(cluster)
    (fresh,) = pods_of(cluster)
    assert fresh.uid != pod.uid


def test_changed_demands_hold_for_nodes_that_have_a_pod() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_daemon_set(), clock=clock, nodes=2)
    schedule(cluster)
    (owner,) = cluster.list(DaemonSet).items
    template = make_template(PodSpec(node_selector={"kubernetes.io/hostname": "n1"}))
    cluster.update(replace(owner, spec=replace(owner.spec, template=template)))
    clock.advance(30.0)
    assert [pod.node_name for pod in pods_of(cluster)] == ["n1"]


def test_pods_go_with_their_daemon_set() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_daemon_set(), clock=clock, nodes=2)
    cluster.delete(DaemonSet, "default/agent")
    clock.advance(0.0)
    cluster.create(make_node(name="new"))
    clock.advance(0.0)
    assert pods_of(cluster) == []


def test_pending_pod_of_a_deleted_node_is_deleted() -> None:
    cluster = make_cluster(make_daemon_set(), nodes=2)
    cluster.delete(Node, "n1")
    react(cluster)
    assert [target_of(pod) for pod in pods_of(cluster)] == ["n0"]


def test_deleted_pod_of_a_daemon_set_returns_when_it_is_gone() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_daemon_set(), clock=clock, nodes=1)
    schedule(cluster)
    (first,) = pods_of(cluster)
    cluster.delete(Pod, first.key)
    react(cluster)
    assert len(pods_of(cluster)) == 1
    clock.advance(30.0)
    (second,) = pods_of(cluster)
    assert second.uid != first.uid
    assert target_of(second) == "n0"
