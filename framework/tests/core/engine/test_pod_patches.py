"""Status patches keep their order per pod and do not delay other pods."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from quaymaster import Handle, PermitWait, Pod, hookimpl
from quaymaster.cluster import ApiError, PodStatusPatch
from quaymaster.config import parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.internals.binding import Post
from tests.kit.internals.engine import PodPatches

T = TypeVar("T")


class NewestFirst:
    """Runs the newest task on each call of ``work``."""

    def __init__(self, _post: Post | None = None) -> None:
        self._tasks: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        self._tasks.append((task, done))

    def close(self) -> None:
        pass

    def work(self) -> None:
        while self._tasks:
            task, done = self._tasks.pop()
            done(task())


class WithoutLease(InMemoryCluster):
    """Rejects all patches."""

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        raise ApiError("no lease")


class Waits:
    """Makes every pod wait on Permit for a second, then rejects it."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(1.0)


def test_patches_of_one_pod_do_not_overtake_each_other() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    pods = [cluster.create(make_pod(name=name)) for name in ("a", "b")]
    executor = NewestFirst()
    patches = PodPatches(cluster, executor, clock)
    for node in ("n1", "n2", ""):
        for pod in pods:
            patches.send(pod, PodStatusPatch(nominated_node_name=node))
    executor.work()
    assert [pod.status.nominated_node_name for pod in cluster.list(Pod).items] == [
        "",
        "",
    ]


def test_failed_patch_does_not_hold_up_the_next_one() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    gone = make_pod(name="gone")
    executor = NewestFirst()
    patches = PodPatches(cluster, executor, clock)
    patches.send(gone, PodStatusPatch(nominated_node_name="n1"))
    patches.send(gone, PodStatusPatch(nominated_node_name="n2"))
    stored = cluster.create(gone)
    cluster.delete(Pod, stored.key)
    executor.work()
    cluster.create(gone)
    patches.send(cluster.get(Pod, gone.key), PodStatusPatch(nominated_node_name="n3"))
    executor.work()
    assert cluster.get(Pod, gone.key).status.nominated_node_name == "n3"


def test_errors_of_many_pods_are_logged_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = VirtualClock()
    cluster, executor = WithoutLease(clock), NewestFirst()
    patches = PodPatches(cluster, executor, clock)
    for name in ("b", "a"):
        patches.send(make_pod(name=name), PodStatusPatch(nominated_node_name="n1"))
    executor.work()
    assert caplog.messages == []
    clock.advance(1.0)
    assert caplog.messages == [
        "the status of 2 pods (the first is default/a) could not be patched: no lease"
    ]


def test_nomination_of_a_rejected_pod_is_cleared() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="n1"), make_pod(name="p")])
    registry = PluginRegistry.discover().with_plugin(Waits)
    config = parse_config(
        {
            **HEADER,
            "profiles": [{"plugins": {"permit": {"enabled": [{"name": "Waits"}]}}}],
        },
        registry,
    )
    executor = NewestFirst()
    scheduler = Scheduler(
        cluster, config, registry, clock=clock, make_executor=lambda _post: executor
    )
    scheduler.start()
    while scheduler.turn():
        pass
    clock.advance(2)  # the nomination has not reached the cluster by then
    while scheduler.turn():
        pass
    executor.work()
    assert cluster.get(Pod, "default/p").status.nominated_node_name == ""
    assert scheduler.queue.get("default/p") is not None
