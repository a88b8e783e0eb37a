"""ReplicaSets and ReplicationControllers of the in-memory cluster."""

from msgspec.structs import replace

from quaymaster.clock import VirtualClock
from quaymaster.memory import RUN_SECONDS_ANNOTATION, MemoryCluster
from quaymaster.objects import (
    ApiObject,
    LabelSelector,
    ObjectMeta,
    Pod,
    PodSpec,
    PodTemplateSpec,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
)
from quaymaster.testing import make_container, make_node

LABELS = {"app": "web"}
SELECTOR = LabelSelector(match_labels=LABELS)


def make_template(
    spec: PodSpec | None = None, annotations: dict[str, str] | None = None
) -> PodTemplateSpec:
    spec = replace(spec or PodSpec(), containers=(make_container(),))
    metadata = ObjectMeta(labels=LABELS, annotations=annotations or {})
    return PodTemplateSpec(metadata=metadata, spec=spec)


def make_replica_set(replicas: int) -> ReplicaSet:
    return ReplicaSet(
        metadata=ObjectMeta(name="web"),
        spec=ReplicaSetSpec(
            replicas=replicas, selector=SELECTOR, template=make_template()
        ),
    )


def make_cluster(
    *objects: ApiObject, clock: VirtualClock | None = None, nodes: int = 1
) -> MemoryCluster:
    cluster = MemoryCluster(clock or VirtualClock())
    cluster.load([*(make_node(name=f"n{index}") for index in range(nodes)), *objects])
    return cluster


def pods_of(cluster: MemoryCluster) -> list[Pod]:
    return list(cluster.list(Pod).items)


def names_of(cluster: MemoryCluster) -> list[str]:
    return [pod.name for pod in pods_of(cluster)]


def react(cluster: MemoryCluster) -> None:
    """Let the controllers do what is due now."""
    cluster.clock.run_due()


def schedule(cluster: MemoryCluster) -> None:
    """Bind every pod that waits, until no more come."""
    while waiting := [pod for pod in pods_of(cluster) if not pod.node_name]:
        for pod in waiting:
            cluster.bind(pod, "n0")
        react(cluster)


def scale(cluster: MemoryCluster, count: int) -> None:
    (workload,) = cluster.list(ReplicaSet).items
    cluster.update(replace(workload, spec=replace(workload.spec, replicas=count)))
    react(cluster)


def test_deleted_pod_is_replaced_at_once_under_a_new_name() -> None:
    clock = VirtualClock()
    cluster = make_cluster(make_replica_set(1), clock=clock)
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
    cluster = make_cluster(make_replica_set(1))
    schedule(cluster)
    (pod,) = pods_of(cluster)
    cluster.update(replace(pod, status=replace(pod.status, phase="Failed")))
    react(cluster)
    assert len(pods_of(cluster)) == 2


def test_pod_whose_time_to_run_is_over_is_not_replaced() -> None:
    clock = VirtualClock()
    replica_set = make_replica_set(2)
    template = make_template(annotations={RUN_SECONDS_ANNOTATION: "60"})
    spec = replace(replica_set.spec, template=template)
    cluster = make_cluster(replace(replica_set, spec=spec), clock=clock)
    schedule(cluster)
    clock.advance(1000.0)
    assert [pod.status.phase for pod in pods_of(cluster)] == ["Succeeded"] * 2
    assert clock.next_due() is None


def test_replication_controller_keeps_up_its_pods() -> None:
    cluster = make_cluster(
        ReplicationController(
            metadata=ObjectMeta(name="old"),
            spec=ReplicationControllerSpec(replicas=2, template=make_template()),
        )
    )
    cluster.delete(Pod, pods_of(cluster)[0].key)
    react(cluster)
    assert len(pods_of(cluster)) == 2
    assert all(name.startswith("old-") for name in names_of(cluster))


def test_scaling_down_takes_waiting_pods_before_running_ones() -> None:
    cluster = make_cluster(make_replica_set(4))
    running = pods_of(cluster)[1:3]
    for pod in running:
        cluster.bind(pod, "n0")
    scale(cluster, 2)
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
        scale(cluster, count)
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
    )
    cluster.delete(PriorityClass, "high")
    cluster.delete(Pod, pods_of(cluster)[0].key)
    react(cluster)
    assert pods_of(cluster) == []
    (event,) = cluster.events()
    assert (event.reason, event.regarding.name) == ("FailedCreate", "web")
    assert "priorityClassName" in event.note
