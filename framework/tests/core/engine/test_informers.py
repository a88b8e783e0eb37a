"""The engine's copy of the cluster keeps up, also after a watch has expired."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import pytest

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import (
    ApiError,
    ListResult,
    PodStatusPatch,
    ResourceExpiredError,
    Watch,
    WatchEvent,
)
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Lease
from quaymaster.scheduler import Clock, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.clusters import make_cluster
from tests.kit.internals.engine import EngineInformers

ObjT = TypeVar("ObjT", bound=ApiObject)


class Recorder:
    """Records the changes that the informers report."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        what = "added" if old is None else "gone" if new is None else "changed"
        obj = new or old
        assert obj is not None
        if kind in (Node, Pod):
            self.changes.append(f"{what} {obj.name}" + (" (missed)" if missed else ""))


def recorded_informers(cluster: InMemoryCluster) -> tuple[EngineInformers, Recorder]:
    recorder = Recorder()
    informers = EngineInformers(cluster, lambda: None)
    informers.start(recorder)
    return informers, recorder


def test_existing_objects_are_reported_as_added() -> None:
    cluster = make_cluster(controllers=False)
    cluster.load([make_pod(name="p"), make_node(name="n")])
    informers, recorder = recorded_informers(cluster)
    assert recorder.changes == ["added n", "added p"]
    assert informers.get(Node, "n") is not None


def test_later_changes_come_through_the_watch() -> None:
    cluster = make_cluster(controllers=False)
    cluster.load([make_node(name="n")])
    informers, recorder = recorded_informers(cluster)
    pod = cluster.create(make_pod(name="p"))
    cluster.patch_pod_status(pod, PodStatusPatch(nominated_node_name="n"))
    cluster.delete(Pod, "default/p")
    assert informers.sync()
    assert recorder.changes == ["added n", "added p", "changed p", "gone p"]
    assert not informers.sync()


def test_nodes_that_came_with_pods_are_reported_before_them() -> None:
    cluster = make_cluster(controllers=False)
    informers, recorder = recorded_informers(cluster)
    cluster.create(make_pod(name="p"))
    cluster.create(make_node(name="n"))
    cluster.create(make_pod(name="q"))
    assert informers.sync()
    assert recorder.changes == ["added n", "added p", "added q"]
    assert not informers.sync()


class Eager(InMemoryCluster):
    """A cluster whose watches signal new events at once, and twice."""

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        watch = super().watch(kind, resource_version, notify)
        notify()
        notify()
        return watch


def test_watches_may_signal_new_events_too_often() -> None:
    cluster = Eager(VirtualClock(), controllers=False)
    informers, recorder = recorded_informers(cluster)
    assert not informers.sync()
    cluster.create(make_pod(name="p"))
    assert informers.sync()
    assert recorder.changes == ["added p"]


def test_copy_is_up_to_date_when_a_change_is_reported() -> None:
    cluster = make_cluster(controllers=False)
    informers, _ = recorded_informers(cluster)
    cluster.create(make_pod(name="p", namespace="blue"))
    informers.sync()
    assert [pod.name for pod in informers.list(Pod, "blue")] == ["p"]
    assert informers.list(Pod, "red") == []


class Interrupted(InMemoryCluster):
    """A cluster whose watches fail while `error` is set."""

    error: ApiError | None = None

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, controllers=False)
        self._notify: list[Callable[[], None]] = []

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        self._notify.append(notify)
        return _Watch(self, super().watch(kind, resource_version, notify))

    def interrupt(self, error: ApiError) -> None:
        """Make all watches fail, and signal it."""
        self.error = error
        for notify in self._notify:
            notify()


class _Watch(Generic[ObjT]):
    def __init__(self, cluster: Interrupted, watch: Watch[ObjT]) -> None:
        self._cluster = cluster
        self._watch = watch

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        if self._cluster.error is not None:
            raise self._cluster.error
        return self._watch.take()

    def stop(self) -> None:
        self._watch.stop()


def make_interrupted() -> Interrupted:
    return Interrupted(VirtualClock())


def test_whole_list_is_stored_before_its_first_object_is_reported() -> None:
    cluster = make_interrupted()
    cluster.load([make_pod(name=name) for name in "abc"])
    informers, recorder = recorded_informers(cluster)
    sizes: list[int] = []
    changed = recorder.changed

    def looking(*args: Any, missed: bool = False) -> None:
        sizes.append(len(informers.list(Pod)))
        changed(*args, missed=missed)

    vars(recorder).update(changed=looking)
    cluster.create(make_pod(name="d"))
    cluster.delete(Pod, "default/a")
    cluster.interrupt(ResourceExpiredError("too old"))
    informers.sync()
    assert sizes == [3, 3]


@pytest.mark.parametrize("recreated", [False, True])
def test_changes_that_an_expired_watch_missed_are_reported_after_a_new_list(
    recreated: bool,
) -> None:
    cluster = make_interrupted()
    cluster.load([make_pod(name="stays"), make_pod(name="goes")])
    informers, recorder = recorded_informers(cluster)
    recorder.changes.clear()
    cluster.delete(Pod, "default/goes")
    if recreated:
        cluster.create(make_pod(name="goes", uid="another"))
    cluster.create(make_pod(name="comes"))
    cluster.interrupt(ResourceExpiredError("too old"))
    informers.sync()
    expected = ["gone goes (missed)", "added comes"]
    if recreated:
        expected = ["gone goes (missed)", "added goes", "added comes"]
    assert sorted(recorder.changes) == sorted(expected)


def test_broken_watch_resumes_where_it_was() -> None:
    cluster = make_interrupted()
    informers, recorder = recorded_informers(cluster)
    cluster.create(make_pod(name="p"))
    cluster.interrupt(ApiError("connection lost"))
    informers.sync()
    cluster.error = None
    informers.sync()
    assert recorder.changes == ["added p"]


def test_kind_that_is_not_declared_cannot_be_looked_up() -> None:
    informers, _ = recorded_informers(make_cluster(controllers=False))
    with pytest.raises(KeyError, match=r"Lease is not followed .*reads = \(Lease,\)"):
        informers.get(Lease, "default/x")


class Unreachable(Interrupted):
    """A cluster whose lists fail or are stale, as the test sets it."""

    is_down = False
    lags_by = 0

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        if self.is_down:
            raise ApiError("no answer")
        listed = super().list(kind)
        return ListResult(listed.items, listed.resource_version - self.lags_by)


def follow_unreachable() -> tuple[
    Unreachable, EngineInformers, Recorder, list[Callable[[], None]]
]:
    cluster = Unreachable(VirtualClock())
    cluster.load([make_pod(name="p")])
    recorder = Recorder()
    retries: list[Callable[[], None]] = []
    informers = EngineInformers(cluster, lambda: None, retries.append)
    informers.start(recorder)
    cluster.create(make_pod(name="q"))
    informers.sync()
    recorder.changes.clear()
    return cluster, informers, recorder, retries


@pytest.mark.parametrize("is_down", [True, False], ids=["no list", "a stale list"])
def test_list_that_fails_or_is_stale_is_requested_again_later(is_down: bool) -> None:
    cluster, informers, recorder, retries = follow_unreachable()
    cluster.is_down, cluster.lags_by = is_down, 1
    cluster.interrupt(ResourceExpiredError("too old"))
    informers.sync()
    assert retries
    assert recorder.changes == []
    cluster.error, cluster.is_down, cluster.lags_by = None, False, 0
    cluster.create(make_pod(name="r"))
    assert not informers.sync()
    for retry in retries:
        retry()
    informers.sync()
    assert recorder.changes == ["added r"]


class Repeating(InMemoryCluster):
    """A cluster whose watches deliver each batch of changes twice."""

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        return _Repeater(super().watch(kind, resource_version, notify))


class _Repeater(Generic[ObjT]):
    def __init__(self, watch: Watch[ObjT]) -> None:
        self._watch = watch

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        return [*self._watch.take()] * 2

    def stop(self) -> None:
        self._watch.stop()


def test_repeated_old_event_does_not_restore_a_deleted_pod() -> None:
    cluster = Repeating(VirtualClock(), controllers=False)
    informers, recorder = recorded_informers(cluster)
    cluster.create(make_pod(name="p"))
    cluster.delete(Pod, "default/p")
    informers.sync()
    assert recorder.changes == ["added p", "gone p"]
    assert informers.list(Pod) == []
