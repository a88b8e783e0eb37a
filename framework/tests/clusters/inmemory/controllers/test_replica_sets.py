"""ReplicaSets and ReplicationControllers of the in-memory cluster."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import (
    ObjectMeta,
    PodSpec,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
)
from quaymaster.scheduler import VirtualClock
from tests.kit.clusters import make_cluster, names_of, pods_of, react, schedule
from tests.kit.workloads import SELECTOR, make_replica_set, make_template, scale


def test_deleted_pod_is_replaced_at_once_under_a_new_name() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_replica_set(1), clock=clock, nodes=1)
    schedule(cluster)
    (first,) = pods_of(cluster)
    cluster.delete(Pod, first.key)
    react(cluster)
    leaving, second = pods_of(cluster)
    assert leaving.is_terminating
    assert second.name != first.name
    clock.advance(30.0)
    assert names_of(cluster) == [second.name]


def test_failed_pod_is_replaced() -> None:
    cluster = make_cluster(make_replica_set(1), nodes=1)
    schedule(cluster)
    (pod,) = pods_of(cluster)
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    react(cluster)
    assert len(pods_of(cluster)) == 2


def test_pod_whose_time_to_run_is_over_is_not_replaced() -> None:
    clock = VirtualClock()
    replica_set = make_replica_set(2)
    template = make_template(run_for="60")
    spec = replace(replica_set.spec, template=template)
    cluster = make_cluster(replace(replica_set, spec=spec), clock=clock, nodes=1)
    schedule(cluster)
    clock.advance(1000.0)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 2
    assert clock.next_due() is None


def test_replication_controller_keeps_up_its_pods() -> None:
    cluster = make_cluster(
        ReplicationController(
            metadata=ObjectMeta(name="old"),
            spec=ReplicationControllerSpec(replicas=2, template=make_template()),
        ),
        nodes=1,
    )
    cluster.delete(Pod, pods_of(cluster)[0].key)
    react(cluster)
    assert len(pods_of(cluster)) == 2
    assert all(name.startswith("old-") for name in names_of(cluster))


def test_scaling_down_takes_waiting_pods_before_running_ones() -> None:
    cluster = make_cluster(make_replica_set(4), nodes=1)
    running = pods_of(cluster)[1:3]
    for pod in running:
        cluster.bind(pod, "n0")
    scale(cluster, ReplicaSet, 2)
    assert pods_of(cluster) == [cluster.get(Pod, pod.key) for pod in running]


def test_scaling_down_takes_cheap_pods_then_crowded_ones_then_young_ones() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_replica_set(5), clock=clock, nodes=4)
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
    pods = pods_of(cluster)
    for pod, node in zip(pods, ("n0", "n0", "n1", "n2", "n3"), strict=True):
        clock.advance(3600.0 if node == "n3" else 1.0)
        cluster.bind(pod, node)
    clock.advance(10.0)
    cheap = cluster.get(Pod, pods[2].key)
    metadata = replace(cheap.metadata, annotations=cost)
    cluster.update(replace(cheap, metadata=metadata))
    survivors = []
    for count in (4, 3, 2, 1):
        scale(cluster, ReplicaSet, count)
        survivors.append({p.name for p in pods_of(cluster) if not p.is_terminating})
    assert pods[2].name not in survivors[0]
    assert not {pods[0].name, pods[1].name} <= survivors[1]
    assert pods[4].name not in survivors[2]


def test_pod_that_is_refused_leaves_an_event() -> None:
    cluster = make_cluster(
        PriorityClass(metadata=ObjectMeta(name="high"), value=1),
        ReplicaSet(
            metadata=ObjectMeta(name="web"),
            spec=ReplicaSetSpec(
                replicas=1,
                selector=SELECTOR,
                template=make_template(PodSpec(priority_class_name="high")),
            ),
        ),
        nodes=1,
    )
    cluster.delete(PriorityClass, "high")
    cluster.delete(Pod, pods_of(cluster)[0].key)
    react(cluster)
    assert pods_of(cluster) == []
    (event,) = cluster.events()
    assert (event.reason, event.regarding.name) == ("FailedCreate", "web")
    assert "priorityClassName" in event.note
