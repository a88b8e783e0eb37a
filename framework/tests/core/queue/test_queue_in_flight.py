"""Rules of upstream's scheduling queue, by number: events for pods in flight."""

from collections.abc import Mapping, Sequence

import pytest

from quaymaster import (
    ActionType,
    ApiObject,
    EventResource,
    Pod,
    QueueingHint,
)
from quaymaster.scheduler import QueueName
from tests.kit.internals.queue import (
    NODE_ADD,
)
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    NODE,
    NODE_ADDED,
    UNSCHEDULABLE,
    QueueRig,
    on,
)


@pytest.mark.parametrize(
    ("rejected_by", "pending", "queue"),
    [
        pytest.param(["A"], [], BACKOFF, id="one that helps it"),
        pytest.param(["B"], [], UNSCHEDULABLE, id="one for another plugin"),
        pytest.param(
            ["A"], ["B"], BACKOFF, id="one for its plugin that is not pending"
        ),
        pytest.param(["B"], ["A"], ACTIVE, id="one for its pending plugin"),
    ],
)
def test_rule_15_a_failed_pod_gets_the_events_since_it_was_popped(
    rejected_by: Sequence[str], pending: Sequence[str], queue: QueueName
) -> None:
    rig = QueueRig(events={"A": [NODE_ADDED], "B": []})
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.reject(queued, *rejected_by, pending=pending)
    assert rig.where("p") is queue


def test_rule_15_a_failed_pod_does_not_get_earlier_events() -> None:
    rig = QueueRig()
    rig.add("first")
    first = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("second")
    second = rig.pop()
    rig.reject(second, "A")
    rig.reject(first, "A")
    assert (rig.where("first"), rig.where("second")) == (BACKOFF, UNSCHEDULABLE)


def test_rule_16_the_replay_shows_the_newest_pod_and_the_recorded_objects() -> None:
    seen: list[tuple[Mapping[str, str], ApiObject | None, ApiObject | None]] = []

    def hint(pod: Pod, old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
        seen.append((pod.labels, old, new))
        return QueueingHint.SKIP

    rig = QueueRig(events={"A": [on(EventResource.NODE, ActionType.ADD, hint)]})
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    newest = rig.relabel("p")
    rig.reject(queued, "A")
    assert seen == [(newest.labels, None, NODE)]
    assert queued.pod is newest


def test_rule_17_events_are_forgotten_when_no_older_pod_is_in_flight() -> None:
    rig = QueueRig()
    for name in ("p1", "p2"):
        rig.add(name)
        rig.pop()
        rig.queue.move_all(NODE_ADD, None, NODE)
    first, second = rig.queue.in_flight
    rig.queue.done(second)
    assert rig.queue.in_flight_event_count == 2
    rig.add("p3")
    rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.queue.done(first)
    assert rig.queue.in_flight_event_count == 1
    rig.queue.done(first)  # twice does no harm
    assert rig.queue.in_flight_event_count == 1


def test_rule_18_an_update_of_a_pod_in_flight_is_an_event_and_nothing_else() -> None:
    rig = QueueRig(events={"A": [on(EventResource.POD, ActionType.UPDATE_POD_LABEL)]})
    rig.add("p", nominated="n1")
    rig.add("other")
    queued, other = rig.pop(), rig.pop()
    rig.relabel("p")
    assert len(rig.queue) == 0
    assert rig.nominated("n1") == ["p"]
    rig.reject(queued, "A")
    rig.reject(other, "A")
    assert (rig.where("p"), rig.where("other")) == (BACKOFF, BACKOFF)


def test_rule_19_activating_a_pod_in_flight_helps_that_pod_after_backoff() -> None:
    rig = QueueRig(events={"A": []})
    for name in ("p1", "p2"):
        rig.add(name)
    first, second = rig.pop(), rig.pop()
    rig.queue.activate([first.pod])
    rig.reject(first, pending=["A"])
    rig.reject(second, pending=["A"])
    assert (rig.where("p1"), rig.where("p2")) == (BACKOFF, UNSCHEDULABLE)


def test_rule_20_a_failed_pod_that_is_queued_again_already_changes_nothing() -> None:
    rig = QueueRig()
    pod = rig.add("p")
    queued = rig.pop()
    rig.queue.add(pod)
    newer = rig.queue.get(pod.key)
    rig.reject(queued, "A")
    assert rig.queue.get(pod.key) is newer
    assert newer is not None
    assert (newer.queue, newer.unschedulable_count) == (ACTIVE, 0)
    assert queued.unschedulable_count == 0
    assert rig.queue.in_flight == []


def test_rule_21_a_flush_by_timeout_helps_every_pod_in_flight() -> None:
    rig = QueueRig(events={"A": [NODE_ADDED], "B": []}, limit=60.0)
    rig.add_rejected("old")
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)  # of no interest to B, and kept
    assert rig.queue.in_flight_event_count == 1
    rig.clock.advance(90.0)
    assert rig.queue.in_flight_event_count == 1  # "old" had been woken
    rig.reject(queued, "B")
    assert rig.where("p") is UNSCHEDULABLE
    rig.add("q", priority=5)
    queued = rig.pop()
    rig.clock.advance(90.0)
    rig.reject(queued, "B")
    assert rig.where("q") is BACKOFF


def test_rule_22_a_popped_pod_that_is_in_flight_already_is_dropped() -> None:
    rig = QueueRig()
    pod = rig.add("p", priority=9)
    rig.pop()
    rig.queue.add(pod)
    rig.add("next")
    dropped = rig.queue.get(pod.key)
    assert rig.pop().pod.name == "next"
    assert dropped is not None
    assert dropped.attempts == 1
    assert rig.queue.in_flight == [pod.uid, rig.stored["default/next"].uid]
    assert rig.queue.get(pod.key) is None
