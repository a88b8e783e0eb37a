"""The in-memory cluster stores, loads and records like an API server."""

import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.cluster import (
    AlreadyExistsError,
    Cluster,
    ConflictError,
    EventNote,
    InvalidError,
    NotFoundError,
)
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import Container, Namespace, ObjectMeta, PodCondition, PodSpec
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_namespace, make_node, make_pod
from tests.kit.clusters import make_cluster, object_names

_: type[Cluster] = InMemoryCluster


def condition_of(pod: Pod, name: str) -> PodCondition:
    return next(c for c in pod.status.conditions if c.type == name)


# Creating and reading


def test_created_object_gets_uid_version_and_time() -> None:
    clock = VirtualClock(start=1000.0)
    cluster = make_cluster(clock=clock)
    clock.advance(5.0)
    pod = cluster.create(Pod(metadata=ObjectMeta(name="a"), spec=make_pod().spec))
    assert pod.uid
    assert pod.metadata.resource_version == str(cluster.resource_version)
    assert pod.metadata.creation_timestamp == 1005.0
    assert cluster.get(Pod, "default/a") == pod


def test_object_keeps_the_uid_that_it_comes_with() -> None:
    cluster = make_cluster()
    assert cluster.create(make_pod(uid="from-elsewhere")).uid == "from-elsewhere"


def test_second_object_of_a_name_never_has_the_uid_of_the_first() -> None:
    cluster = make_cluster()
    first = cluster.create(make_pod(name="a"))
    cluster.delete(Pod, "default/a")
    assert cluster.create(make_pod(name="a")).uid != first.uid


def test_taken_key_is_refused() -> None:
    cluster = make_cluster(make_pod(name="a"))
    with pytest.raises(AlreadyExistsError, match="default/a"):
        cluster.create(make_pod(name="a"))
    cluster.create(make_pod(name="a", namespace="other"))


def test_missing_object_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="Pod default/a"):
        make_cluster().get(Pod, "default/a")


def test_list_is_in_the_order_of_creation_whatever_changed_since() -> None:
    cluster = make_cluster(*(make_node(name=name) for name in "cab"))
    node = cluster.get(Node, "c")
    cluster.update(replace(node, spec=replace(node.spec, unschedulable=True)))
    listed = cluster.list(Node)
    assert object_names(listed.items) == ["c", "a", "b"]
    assert listed.resource_version == cluster.resource_version


def test_generate_name_is_completed_with_five_safe_characters() -> None:
    cluster = make_cluster()
    metadata = ObjectMeta(generate_name="web-")
    pod = cluster.create(Pod(metadata=metadata, spec=make_pod().spec))
    assert pod.name.startswith("web-")
    assert set(pod.name.removeprefix("web-")) <= set("bcdfghjklmnpqrstvwxz2456789")
    assert len(pod.name) == len("web-") + 5


def test_same_seed_gives_the_same_names_and_uids() -> None:
    def run(seed: int) -> list[tuple[str, str]]:
        cluster = make_cluster(seed=seed)
        blank = Pod(metadata=ObjectMeta(generate_name="a-"), spec=make_pod().spec)
        pods = [cluster.create(blank) for _ in range(3)]
        return [(pod.name, pod.uid) for pod in pods]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_namespaces_that_are_used_exist() -> None:
    cluster = make_cluster(make_pod(namespace="shop"))
    labels = cluster.get(Namespace, "shop").labels
    assert labels == {"kubernetes.io/metadata.name": "shop"}


def test_namespace_may_be_defined_after_it_was_used() -> None:
    cluster = make_cluster(make_pod(namespace="shop"))
    cluster.load([make_namespace(name="shop", labels={"team": "a"})])
    assert cluster.get(Namespace, "shop").labels["team"] == "a"
    with pytest.raises(AdmissionError, match="Namespace shop"):
        cluster.load([make_namespace(name="shop")])


# Updating


def test_update_replaces_the_object_and_moves_its_version() -> None:
    cluster = make_cluster(make_node(name="n"))
    node = cluster.get(Node, "n")
    spec = replace(node.spec, unschedulable=True)
    updated = cluster.update(replace(node, spec=spec))
    assert updated.spec.unschedulable
    assert updated.metadata.resource_version != node.metadata.resource_version


def test_update_from_an_old_version_conflicts() -> None:
    cluster = make_cluster(make_node(name="n"))
    old = cluster.get(Node, "n")
    cluster.update(replace(old, spec=replace(old.spec, unschedulable=True)))
    with pytest.raises(ConflictError, match="read it again"):
        cluster.update(old)


def test_update_without_a_version_wins() -> None:
    cluster = make_cluster(make_node(name="n"))
    cluster.update(make_node(name="n", unschedulable=True))
    assert cluster.get(Node, "n").spec.unschedulable


def test_update_that_changes_nothing_is_not_an_event() -> None:
    cluster = make_cluster(make_node(name="n"))
    version = cluster.resource_version
    cluster.update(cluster.get(Node, "n"))
    assert cluster.resource_version == version


def test_update_of_a_lost_or_another_object_is_refused() -> None:
    cluster = make_cluster(make_node(name="n"))
    with pytest.raises(NotFoundError):
        cluster.update(make_node(name="other"))
    with pytest.raises(ConflictError, match="uid"):
        cluster.update(make_node(name="n", uid="another"))


def test_node_of_a_pod_cannot_be_updated() -> None:
    cluster = make_cluster(make_node(name="n"), make_pod(name="a"))
    pod = cluster.get(Pod, "default/a")
    with pytest.raises(InvalidError, match="nodeName"):
        cluster.update(replace(pod, node_name="n"))


def test_update_can_remove_scheduling_gates() -> None:
    cluster = make_cluster(make_pod(name="a", scheduling_gates=["wait"]))
    pod = cluster.get(Pod, "default/a")
    assert condition_of(pod, "PodScheduled").reason == "SchedulingGated"
    cluster.update(replace(pod, spec=replace(pod.spec, scheduling_gates=())))
    assert cluster.get(Pod, "default/a").spec.scheduling_gates == ()


def test_update_completes_a_pod_as_creation_does() -> None:
    cluster = make_cluster(make_pod(name="a", priority=7))
    given = Pod(
        metadata=ObjectMeta(name="a", namespace="default", labels={"new": "yes"}),
        spec=PodSpec(containers=(Container(name="main", image="pause"),)),
    )
    pod = cluster.update(given)
    assert pod.labels == {"new": "yes"}
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.tolerations == cluster.create(make_pod(name="b")).spec.tolerations
    assert pod.priority == 7


def test_update_checks_the_object() -> None:
    cluster = make_cluster(make_pod(name="a"))
    pod = cluster.get(Pod, "default/a")
    with pytest.raises(AdmissionError, match="at least one container"):
        cluster.update(replace(pod, spec=replace(pod.spec, containers=())))


# Loading


def test_load_takes_all_objects_or_none() -> None:
    cluster = make_cluster()
    with pytest.raises(AdmissionError) as caught:
        cluster.load(
            [
                make_pod(name="good"),
                make_pod(name="bad", containers=[]),
                make_pod(name="twice"),
                make_pod(name="twice"),
            ]
        )
    problems = [f"{p.where}: {p.path}" for p in caught.value.problems]
    assert problems == [
        "Pod default/bad: spec.containers",
        "Pod default/twice: metadata.name",
    ]
    assert not cluster.list(Pod).items


def test_load_keeps_the_order_within_a_kind() -> None:
    cluster = make_cluster(*(make_pod(name=name) for name in "cab"))
    assert object_names(cluster.list(Pod).items) == ["c", "a", "b"]


def test_loaded_pod_that_was_terminating_goes_after_its_grace_period() -> None:
    clock = VirtualClock(start=1000.0)
    pod = make_pod(name="a", node="n", deletion_timestamp=9000.0)
    metadata = replace(pod.metadata, deletion_grace_period_seconds=30)
    cluster = make_cluster(
        make_node(name="n"), replace(pod, metadata=metadata), clock=clock
    )
    clock.advance(29.0)
    assert object_names(cluster.list(Pod).items) == ["a"]
    clock.advance(1.0)
    assert not cluster.list(Pod).items


# Events


def test_repeated_events_are_counted() -> None:
    clock = VirtualClock(start=0.0)
    pod = make_pod(name="a")
    cluster = make_cluster(pod, clock=clock)
    for text in ("1 node", "2 nodes", "3 nodes"):
        cluster.record(failure(pod, text))
        clock.advance(10.0)
    (event,) = cluster.events()
    assert event.series is not None
    assert (event.series.count, event.note) == (3, "3 nodes")
    assert (event.event_time, event.series.last_observed_time) == (0.0, 20.0)
    assert event.regarding.name == "a"


def test_events_of_other_pods_or_reasons_are_their_own() -> None:
    first, second = make_pod(name="a"), make_pod(name="b")
    cluster = make_cluster(first, second)
    cluster.record(failure(first, "no"))
    cluster.record(failure(second, "no"))
    cluster.record(failure(first, "no", reason="Preempted"))
    assert [e.regarding.name for e in cluster.events()] == ["a", "b", "a"]
    assert all(event.series is None for event in cluster.events())


def test_text_of_an_event_is_built_when_it_is_read() -> None:
    built: list[str] = []

    def text() -> str:
        built.append("now")
        return "0/3 nodes are available"

    pod = make_pod(name="a")
    cluster = make_cluster(pod)
    note = EventNote(pod, "Warning", "FailedScheduling", "Scheduling", text)
    cluster.record(note)
    assert not built
    assert cluster.events()[0].note == "0/3 nodes are available"


def test_only_the_last_events_are_kept() -> None:
    cluster = make_cluster(max_events=2)
    for name in "abc":
        cluster.record(failure(make_pod(name=name), "no"))
    assert [event.regarding.name for event in cluster.events()] == ["b", "c"]


def failure(pod: Pod, text: str, reason: str = "FailedScheduling") -> EventNote:
    return EventNote(pod, "Warning", reason, "Scheduling", text)
