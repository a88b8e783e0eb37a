"""Differences between the caches, the informers and the server are found."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.operation import (
    Difference,
    DriftCounter,
    DriftWatch,
    EngineProbe,
    Seen,
    ServerComparer,
    dump_in_lines,
    dump_page,
    find_drift,
    holdings,
    log_dump,
    scheduler_view,
    view_of,
    whole_dump,
)

T = TypeVar("T")


class AtOnce:
    """Runs calls to the engine at once."""

    def ask(self, call: Callable[[], T], /) -> Future[T]:
        answer: Future[T] = Future()
        answer.set_result(call())
        return answer


class Rig:
    """A scheduler with pods on a node, in the queue and behind a gate."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock, kubelet=False)
        registry = PluginRegistry.discover()
        self.scheduler = Scheduler(
            self.cluster, default_config(registry), registry, clock=self.clock
        )
        self.cluster.create(make_node(name="n", allocatable={"cpu": "4", "pods": "9"}))
        self.cluster.create(make_pod(name="a", requests={"cpu": "1"}))
        self.cluster.create(make_pod(name="big", requests={"cpu": "9"}))
        self.cluster.create(make_pod(name="gated", scheduling_gates=["x.example/y"]))
        self.scheduler.start()
        self.scheduler.settle()

    def pod(self, name: str) -> Pod:
        pod = self.scheduler.informers.get(Pod, f"default/{name}")
        assert pod is not None
        return pod


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.scheduler.close()


def newer(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, resource_version=10_000))


def test_caches_of_a_working_scheduler_have_no_drift(rig: Rig) -> None:
    assert find_drift(rig.scheduler) == []


def test_lost_pod_is_found(rig: Rig) -> None:
    rig.scheduler.cache.remove_pod(rig.pod("a"))
    [found] = find_drift(rig.scheduler)
    assert found == Difference("Pod", "default/a", "missing", "not on node n")


def test_stale_pod_is_found(rig: Rig) -> None:
    rig.scheduler.cache.add_pod(newer(rig.pod("a")))
    [found] = find_drift(rig.scheduler)
    assert (found.key, found.difference) == ("default/a", "changed")


def test_pod_in_no_queue_is_found(rig: Rig) -> None:
    rig.scheduler.queue.delete(rig.pod("big"))
    [found] = find_drift(rig.scheduler)
    assert found == Difference("Pod", "default/big", "missing", "in no queue")


def test_unknown_pod_in_the_caches_is_found(rig: Rig) -> None:
    rig.scheduler.cache.add_pod(make_pod(name="ghost", node="n"))
    rig.scheduler.queue.add(make_pod(name="spectre"))
    assert [
        (difference.key, difference.detail) for difference in find_drift(rig.scheduler)
    ] == [
        ("default/ghost", "still on node n"),
        ("default/spectre", "still in a queue"),
    ]


def test_wrong_nodes_are_found(rig: Rig) -> None:
    cache, stored = rig.scheduler.cache, rig.scheduler.informers.get(Node, "n")
    assert stored is not None
    cache.add_node(make_node(name="ghost"))
    cache.add_node(make_node(name="n"))
    found = {
        (difference.key, difference.difference)
        for difference in find_drift(rig.scheduler)
    }
    assert found == {("ghost", "extra"), ("n", "changed")}
    cache.remove_node(stored)
    found = {
        (difference.key, difference.difference)
        for difference in find_drift(rig.scheduler)
    }
    assert found == {("ghost", "extra"), ("n", "missing")}


def test_difference_is_counted_once_for_as_long_as_it_stays() -> None:
    counter = DriftCounter()
    first, other = (Difference("Pod", key, "extra", "") for key in "ab")
    assert counter.take([first]) == [first]
    assert counter.take([first, other]) == [other]
    assert counter.take([]) == []
    assert counter.take([first]) == [first]
    assert counter.counts == {("Pod", "extra"): 3}


def test_caches_are_compared_every_minute(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    watch = DriftWatch(rig.scheduler, rig.clock)
    watch.start()
    rig.scheduler.cache.remove_pod(rig.pod("a"))
    rig.clock.advance(59.0)
    assert not watch.counter.counts
    rig.clock.advance(1.0)
    assert watch.counter.counts == {("Pod", "missing"): 1}
    rig.clock.advance(600.0)
    assert watch.counter.counts == {("Pod", "missing"): 1}
    assert caplog.messages == [
        "the caches have drifted: Pod default/a is missing: not on node n"
    ]


def server_of(rig: Rig) -> dict[tuple[str, str], Seen]:
    """Return the server's objects, which a test may change."""
    return dict(scheduler_view(rig.scheduler))


def compared(rig: Rig, *views: Mapping[tuple[str, str], Seen]) -> list[tuple[str, str]]:
    left = list(views)
    waited: list[float] = []
    comparer = ServerComparer(
        rig.scheduler, EngineProbe(AtOnce(), 1.0), lambda: left.pop(0), waited.append
    )
    found = comparer.differences(2.0)
    assert waited == [2.0] * (len(views) - 1)
    return [(difference.key, difference.difference) for difference in found]


def test_scheduler_that_agrees_with_the_server_is_compared_once(rig: Rig) -> None:
    assert compared(rig, server_of(rig)) == []


def test_lasting_difference_is_reported(rig: Rig) -> None:
    view = server_of(rig)
    del view["Pod", "default/a"]
    view["Pod", "default/new"] = Seen("u", "77")
    view["Node", "n"] = Seen(view["Node", "n"].uid, "78")
    assert compared(rig, view, view) == [
        ("n", "changed"),
        ("default/a", "extra"),
        ("default/new", "missing"),
    ]


def test_difference_that_is_only_delayed_is_not_reported(rig: Rig) -> None:
    view = server_of(rig)
    early = view | {("Pod", "default/new"): Seen("u", "77")}
    assert compared(rig, early, view) == []


def test_server_is_read_page_by_page() -> None:
    def item(name: str, namespace: str = "") -> object:
        names = {"name": name, "uid": f"uid-{name}", "resourceVersion": "5"}
        return {"metadata": names | ({"namespace": namespace} if namespace else {})}

    pages = {
        "/api/v1/nodes?limit=500": ([item("n")], ""),
        "/api/v1/pods?limit=500": ([item("a", "default")], "more"),
        "/api/v1/pods?limit=500&continue=more": ([item("b", "default")], ""),
    }

    def read(target: str) -> bytes:
        items, further = pages[target]
        return msgspec.json.encode({"items": items, "metadata": {"continue": further}})

    assert view_of(read) == {
        ("Node", "n"): Seen("uid-n", "5"),
        ("Pod", "default/a"): Seen("uid-a", "5"),
        ("Pod", "default/b"): Seen("uid-b", "5"),
    }


def test_dump_lists_the_content_of_the_caches(rig: Rig) -> None:
    rig.clock.advance(5.0)
    tree = whole_dump(
        lambda: holdings(rig.scheduler, rig.clock.now()),
        lambda: [Difference("Pod", "default/x", "missing", "the server has uid u")],
    )
    assert list(dump_in_lines(tree)) == [
        "queue active: 0",
        "queue backoff: 0",
        "queue errorBackoff: 0",
        "queue unschedulable: 2",
        (
            "  default/gated attempts=0 for=5s gated_by=SchedulingGates"
            " rejected_by=SchedulingGates"
        ),
        "  default/big attempts=1 for=5s rejected_by=NodeResourcesFit",
        (
            "    0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes"
            " are available: 1 Preemption is not helpful for scheduling."
        ),
        "in flight: 0, being bound: 0",
        "waiting on Permit: 0",
        "nominated: 0",
        "assumed: 0",
        "nodes: 1, with 1 pods",
        "differs from the informers: 0",
        "differs from the server: 1",
        "  Pod default/x: missing (the server has uid u)",
    ]
    page = dump_page(lambda: tree)
    assert msgspec.json.decode(page({}).body) == tree


def test_page_of_a_missing_dump_reports_it() -> None:
    probe = EngineProbe(AtOnce(), 1.0, lambda: False)
    reply = dump_page(lambda: probe.ask(dict))({})
    assert (reply.status, reply.body) == (503, b"this replica waits for the lease\n")


def test_unreachable_server_is_reported(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(_target: str) -> bytes:
        return b"<html>"

    comparer = ServerComparer(
        rig.scheduler, EngineProbe(AtOnce(), 1.0), lambda: view_of(refused)
    )
    with caplog.at_level("INFO"):
        log_dump(
            lambda: whole_dump(
                lambda: holdings(rig.scheduler, 0.0), lambda: comparer.differences(2.0)
            )
        )
    assert caplog.messages[-1].startswith("the server's view: not compared: /api/v1/")
