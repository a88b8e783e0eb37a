"""ReplicaSets and ReplicationControllers of the in-memory cluster."""

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    Deployment,
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
from tests.kit.workloads import (
    SELECTOR,
    make_deployment,
    make_replica_set,
    make_template,
    scale,
)


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


def test_scaling_down_takes_cheap_pods_first() -> None:
    cluster = make_cluster(make_replica_set(3), nodes=3)
    pods = pods_of(cluster)
    for pod, node in zip(pods, ("n0", "n1", "n2"), strict=True):
        cluster.bind(pod, node)
    cheap = cluster.get(Pod, pods[1].key)
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-1"}
    metadata = replace(cheap.metadata, annotations=cost)
    cluster.update(replace(cheap, metadata=metadata))
    scale(cluster, ReplicaSet, 2)
    assert cluster.get(Pod, pods[1].key).is_terminating


def crowded_pods(cluster: InMemoryCluster, clock: VirtualClock) -> list[str]:
    """Bind three old pods to n0 and a young one to n1; return the names of the old."""
    pods = pods_of(cluster)
    for pod, node in zip(pods, ("n0", "n0", "n0", "n1"), strict=True):
        clock.advance(3600.0 if node == "n1" else 1.0)
        cluster.bind(pod, node)
    clock.advance(10.0)
    return [pod.name for pod in pods[:3]]


def test_set_of_a_deployment_deletes_pods_of_crowded_nodes_first() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_deployment(4), clock=clock, nodes=2)
    old = crowded_pods(cluster, clock)
    scale(cluster, Deployment, 3)
    (deleted,) = (pod.name for pod in pods_of(cluster) if pod.is_terminating)
    assert deleted in old


def test_set_without_an_owner_ignores_crowded_nodes() -> None:
    """As upstream, which ranks pods by the sets of the same controller only."""
    clock = VirtualClock()
    cluster = make_cluster(make_replica_set(4), clock=clock, nodes=2)
    old = crowded_pods(cluster, clock)
    scale(cluster, ReplicaSet, 3)
    (deleted,) = (pod.name for pod in pods_of(cluster) if pod.is_terminating)
    assert deleted not in old


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
