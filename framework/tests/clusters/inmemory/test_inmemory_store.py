"""Watches of the in-memory cluster deliver events for a limited history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster.cluster import ResourceExpiredError, WatchEventType
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Namespace, ObjectMeta
from quaymaster.testing import make_node
from tests.kit.clusters import make_cluster
from tests.kit.internals.inmemory import MAX_LAG


def add(cluster: InMemoryCluster, name: str) -> None:
    cluster.create(Namespace(metadata=ObjectMeta(name=name)))


def relabel(cluster: InMemoryCluster, name: str, value: str) -> None:
    namespace = cluster.get(Namespace, name)
    metadata = replace(namespace.metadata, labels={"value": value})
    cluster.update(replace(namespace, metadata=metadata))


def ignore() -> None:
    """Ignore the notification of new events."""


def test_watch_sees_every_change_after_its_version_in_order() -> None:
    cluster = make_cluster()
    add(cluster, "before")
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    add(cluster, "a")
    relabel(cluster, "a", "1")
    cluster.delete(Namespace, "a")
    events = watch.take()
    assert [(event.type, event.object.name) for event in events] == [
        (WatchEventType.ADDED, "a"),
        (WatchEventType.MODIFIED, "a"),
        (WatchEventType.DELETED, "a"),
    ]
    versions = [event.resource_version for event in events]
    assert versions == sorted(set(versions))
    assert versions[-1] == cluster.resource_version


def test_event_carries_the_version_that_its_object_has() -> None:
    cluster = make_cluster()
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    add(cluster, "a")
    (event,) = watch.take()
    assert event.object.metadata.resource_version == str(event.resource_version)


def test_taken_events_do_not_come_again() -> None:
    cluster = make_cluster()
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    add(cluster, "a")
    assert len(watch.take()) == 1
    assert len(watch.take()) == 0


def test_watch_resumes_from_the_version_of_an_event() -> None:
    cluster = make_cluster()
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    for name in "abc":
        add(cluster, name)
    second = watch.take()[1]
    resumed = cluster.watch(Namespace, second.resource_version, ignore)
    assert [event.object.name for event in resumed.take()] == ["c"]


def test_other_kinds_move_the_version_but_are_not_seen() -> None:
    cluster = make_cluster()
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    version = cluster.resource_version
    cluster.create(make_node(name="n"))
    assert cluster.resource_version > version
    assert len(watch.take()) == 0


def test_notify_comes_once_until_the_events_are_taken() -> None:
    cluster = make_cluster()
    calls: list[int] = []
    watch = cluster.watch(Namespace, cluster.resource_version, lambda: calls.append(1))
    add(cluster, "a")
    add(cluster, "b")
    assert len(calls) == 1
    watch.take()
    add(cluster, "c")
    assert len(calls) == 2


def test_watch_that_starts_behind_is_notified_at_once() -> None:
    cluster = make_cluster()
    version = cluster.resource_version
    add(cluster, "a")
    calls: list[int] = []
    cluster.watch(Namespace, version, lambda: calls.append(1))
    assert len(calls) == 1


def test_stopped_watch_sees_nothing_and_is_not_notified() -> None:
    cluster = make_cluster()
    calls: list[int] = []
    watch = cluster.watch(Namespace, cluster.resource_version, lambda: calls.append(1))
    watch.stop()
    watch.stop()
    add(cluster, "a")
    assert len(watch.take()) == 0
    assert not calls


def test_watch_from_a_forgotten_version_is_refused() -> None:
    cluster = make_cluster(history=10)
    version = cluster.resource_version
    for index in range(100):
        add(cluster, f"n{index}")
    with pytest.raises(ResourceExpiredError, match="list again"):
        cluster.watch(Namespace, version, ignore)
    cluster.watch(Namespace, cluster.resource_version - 10, ignore)


def test_lagging_watch_keeps_its_events() -> None:
    cluster = make_cluster(history=10)
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    for index in range(100):
        add(cluster, f"n{index}")
    assert len(watch.take()) == 100


def test_lagging_watch_expires_when_its_events_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MAX_LAG, 50)
    cluster = make_cluster(history=10)
    watch = cluster.watch(Namespace, cluster.resource_version, ignore)
    for index in range(100):
        add(cluster, f"n{index}")
    with pytest.raises(ResourceExpiredError):
        watch.take()


CHANGES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["put", "delete", "take"])),
    max_size=40,
)


@given(before=CHANGES, after=CHANGES, history=st.integers(0, 20))
def test_list_and_later_events_give_the_later_list(
    before: list[tuple[str, str]], after: list[tuple[str, str]], history: int
) -> None:
    cluster = make_cluster(history=history)
    play(cluster, before)
    listed = cluster.list(Namespace)
    replayed = {namespace.name: namespace for namespace in listed.items}
    watch = cluster.watch(Namespace, listed.resource_version, ignore)
    for change in after:
        play(cluster, [change])
        if change[1] != "take":
            continue
        for event in watch.take():
            if event.type is WatchEventType.DELETED:
                del replayed[event.object.name]
            else:
                replayed[event.object.name] = event.object
        assert replayed == {n.name: n for n in cluster.list(Namespace).items}


@given(changes=CHANGES, cut=st.integers(0, 40))
def test_resumed_watch_sees_what_the_first_one_saw(
    changes: list[tuple[str, str]], cut: int
) -> None:
    cluster = make_cluster()
    start = cluster.resource_version
    watch = cluster.watch(Namespace, start, ignore)
    play(cluster, changes)
    seen = list(watch.take())
    version = seen[cut].resource_version if cut < len(seen) else start
    rest = seen[cut + 1 :] if cut < len(seen) else seen
    assert list(cluster.watch(Namespace, version, ignore).take()) == rest


def play(cluster: InMemoryCluster, changes: list[tuple[str, str]]) -> None:
    """Apply changes: put creates or updates, delete deletes existing objects."""
    for number, (name, action) in enumerate(changes):
        exists = any(n.name == name for n in cluster.list(Namespace).items)
        if action == "delete" and exists:
            cluster.delete(Namespace, name)
        elif action == "put" and exists:
            relabel(cluster, name, f"{number}-{cluster.resource_version}")
        elif action == "put":
            add(cluster, name)
