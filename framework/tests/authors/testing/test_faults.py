"""The faulty cluster fails at the given rates and counts the faults."""

import pytest

from quaymaster import Node, Pod
from quaymaster.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    NotFoundError,
    PodStatusPatch,
    ResourceExpiredError,
    UnknownOutcomeError,
)
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import Fault, FaultyCluster, make_node, make_pod


def make_clusters(
    rates: dict[Fault, float], *, seed: int = 0
) -> tuple[FaultyCluster, InMemoryCluster, VirtualClock]:
    clock = VirtualClock()
    inner = InMemoryCluster(clock, controllers=False)
    inner.load([make_node(name="n"), make_pod(name="p")])
    _: type[Cluster] = FaultyCluster
    return FaultyCluster(inner, clock=clock, rates=rates, seed=seed), inner, clock


def test_without_rates_nothing_fails() -> None:
    faulty, _, _ = make_clusters({})
    faulty.bind(faulty.get(Pod, "default/p"), "n")
    assert faulty.get(Pod, "default/p").node_name == "n"
    assert not faulty.counts


def test_a_lost_answer_has_taken_effect() -> None:
    faulty, inner, _ = make_clusters({Fault.LOST_ANSWER: 1})
    with pytest.raises(UnknownOutcomeError, match="answer was lost"):
        faulty.bind(inner.get(Pod, "default/p"), "n")
    assert inner.get(Pod, "default/p").node_name == "n"
    assert faulty.counts == {Fault.LOST_ANSWER: 1}


def test_a_dead_node_is_deleted_and_accepts_no_pod() -> None:
    faulty, inner, _ = make_clusters({Fault.DEAD_NODE: 1})
    with pytest.raises(NotFoundError, match="Node n"):
        faulty.bind(inner.get(Pod, "default/p"), "n")
    assert not inner.list(Node).items
    assert not inner.get(Pod, "default/p").node_name


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.ERROR, ApiError),
        (Fault.CONFLICT, ConflictError),
        (Fault.LOST_CALL, UnknownOutcomeError),
    ],
    ids=["an error", "a conflict", "a lost call"],
)
def test_a_call_that_fails_before_it_is_sent_has_no_effect(
    fault: Fault, error: type[ApiError]
) -> None:
    faulty, inner, _ = make_clusters({fault: 1})
    pod = inner.get(Pod, "default/p")
    with pytest.raises(error, match="injected"):
        faulty.bind(pod, "n")
    with pytest.raises(error, match="injected"):
        faulty.delete(Pod, "default/p")
    assert inner.get(Pod, "default/p") is pod
    assert faulty.counts == {fault: 2}


def test_a_stale_list_is_the_last_one_again() -> None:
    faulty, inner, _ = make_clusters({Fault.STALE_LIST: 1})
    first = faulty.list(Node)
    inner.create(make_node(name="new"))
    again = faulty.list(Node)
    assert [node.name for node in again.items] == ["n"]
    assert again.resource_version == first.resource_version


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Fault.BROKEN_WATCH, ApiError), (Fault.EXPIRED_WATCH, ResourceExpiredError)],
    ids=["broken", "expired"],
)
def test_a_watch_that_ended_stays_ended(fault: Fault, error: type[ApiError]) -> None:
    faulty, inner, _ = make_clusters({fault: 1})
    watch = faulty.watch(Pod, inner.resource_version, lambda: None)
    with pytest.raises(error, match="injected"):
        watch.take()
    faulty.set_rates({})
    with pytest.raises(error, match="injected"):
        watch.take()


def test_delayed_events_come_later_with_a_notice() -> None:
    faulty, inner, clock = make_clusters({Fault.DELAYED_EVENTS: 1})
    notices: list[float] = []
    watch = faulty.watch(Pod, inner.resource_version, lambda: notices.append(1))
    inner.create(make_pod(name="q"))
    assert not watch.take()
    faulty.set_rates({})
    clock.advance(5)
    assert len(notices) == 2
    assert [event.object.name for event in watch.take()] == ["q"]


def test_events_of_different_kinds_come_in_any_order() -> None:
    def seen(seed: int) -> list[str]:
        """Return the events of two watches in the order of their arrival."""
        faulty, inner, clock = make_clusters({Fault.DELAYED_EVENTS: 1}, seed=seed)
        given: list[str] = []

        def take() -> None:
            for watch in watches:
                given.extend(event.object.name for event in watch.take())

        watches = [
            faulty.watch(kind, inner.resource_version, take) for kind in (Node, Pod)
        ]
        inner.create(make_node(name="first-node"))
        inner.create(make_pod(name="first-pod"))
        inner.create(make_node(name="last-node"))
        inner.create(make_pod(name="last-pod"))
        faulty.set_rates({})
        while (due := clock.next_due()) is not None:
            clock.advance(due - clock.now())
        return given

    pods = ["first-pod", "last-pod"]
    nodes = ["first-node", "last-node"]
    orders = [seen(seed) for seed in range(8)]
    assert pods + nodes in orders
    assert nodes + pods in orders
    for order in orders:
        assert [name for name in order if name in pods] == pods
        assert [name for name in order if name in nodes] == nodes


def test_a_repeated_event_comes_twice_in_a_row() -> None:
    faulty, inner, _ = make_clusters({Fault.REPEATED_EVENT: 1})
    watch = faulty.watch(Pod, inner.resource_version, lambda: None)
    inner.create(make_pod(name="q"))
    inner.create(make_pod(name="r"))
    assert [event.object.name for event in watch.take()] == ["q", "q", "r", "r"]


def test_the_same_calls_get_the_same_faults() -> None:
    def play(seed: int) -> list[bool]:
        faulty, inner, _ = make_clusters({Fault.ERROR: 0.5}, seed=seed)
        pod, answered = inner.get(Pod, "default/p"), []
        for _ in range(40):
            try:
                faulty.patch_pod_status(pod, PodStatusPatch())
            except ApiError:
                answered.append(False)
            else:
                answered.append(True)
        return answered

    assert play(1) == play(1)
    assert play(1) != play(2)
    assert set(play(1)) == {True, False}


def test_a_rate_above_1_is_refused() -> None:
    with pytest.raises(ValueError, match=r"lost call: expected 0 to 1, got 1\.5"):
        make_clusters({Fault.LOST_CALL: 1.5})
