"""Rules of upstream's scheduling queue, by number: where a failed or woken pod goes."""

import pytest

from quaymaster import (
    ActionType,
    ClusterEventWithHint,
    EventResource,
    Pod,
    QueueingHint,
)
from quaymaster.scheduler import QueueName
from quaymaster.testing import make_pod
from tests.kit.internals.queue import (
    ASSIGNED_POD_ADD,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
)
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    ERROR_BACKOFF,
    NODE,
    NODE_ADDED,
    NODE_ADDED_SKIP,
    UNSCHEDULABLE,
    QueueRig,
    always,
    on,
)


@pytest.mark.parametrize(
    ("hint", "pending", "wait", "queue"),
    [
        pytest.param(QueueingHint.SKIP, False, 0.0, UNSCHEDULABLE, id="skip"),
        pytest.param(QueueingHint.QUEUE, False, 0.0, BACKOFF, id="after backoff"),
        pytest.param(QueueingHint.QUEUE, False, 5.0, ACTIVE, id="backoff is over"),
        pytest.param(QueueingHint.QUEUE, True, 0.0, ACTIVE, id="immediately"),
    ],
)
def test_rule_08_the_strategy_decides_on_the_queue(
    hint: QueueingHint, pending: bool, wait: float, queue: QueueName
) -> None:
    rig = QueueRig(events={"A": [on(EventResource.NODE, ActionType.ADD, always(hint))]})
    rig.add("p")
    rig.reject(rig.pop(), "A", pending=["A"] if pending else [])
    rig.clock.advance(wait)
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is queue


@pytest.mark.parametrize(
    ("longest", "queue"), [(10.0, ERROR_BACKOFF), (0.0, ACTIVE)], ids=["10 s", "none"]
)
def test_rule_09_after_an_error_a_pod_backs_off_whatever_has_happened(
    longest: float, queue: QueueName
) -> None:
    rig = QueueRig(events={"A": [NODE_ADDED_SKIP]}, longest=longest)
    rig.add("p")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.error(queued)
    assert rig.where("p") is queue


def test_rule_10_only_hints_of_rejecting_plugins_are_called() -> None:
    names: list[str] = []

    def hint(name: str, answer: QueueingHint) -> ClusterEventWithHint:
        def ask(_pod: Pod, _old: object, _new: object) -> QueueingHint:
            names.append(name)
            return answer

        return on(EventResource.NODE, ActionType.ADD, ask)

    rig = QueueRig(
        events={
            "A": [hint("A", QueueingHint.SKIP)],
            "B": [hint("B", QueueingHint.QUEUE)],
            "C": [hint("C", QueueingHint.SKIP)],
        }
    )
    rig.add_rejected("p", "A", "C")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert names == ["A", "C"]
    assert rig.where("p") is UNSCHEDULABLE


def test_rule_10_queue_from_a_pending_plugin_beats_queue_from_another() -> None:
    rig = QueueRig(events={"A": [NODE_ADDED], "B": [NODE_ADDED]})
    rig.add("p")
    rig.reject(rig.pop(), "A", pending=["B"])
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is ACTIVE


def test_rule_10_a_hint_that_fails_counts_as_queue(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_pod: Pod, _old: object, _new: object) -> QueueingHint:
        raise ValueError("oh")

    rig = QueueRig(events={"A": [on(EventResource.NODE, ActionType.ADD, broken)]})
    rig.add_rejected("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is BACKOFF
    assert "queueing hint of plugin 'A' failed for pod default/p" in caplog.text


def test_rule_11_a_wildcard_moves_every_pod_or_the_one_it_is_aimed_at() -> None:
    rig = QueueRig(events={"A": []})
    first, second = rig.add_rejected("p1"), rig.add_rejected("p2")
    rig.queue.move_all(FORCE_ACTIVATE, None, NODE)
    assert rig.where("p1") is rig.where("p2") is UNSCHEDULABLE
    rig.queue.move_all(FORCE_ACTIVATE, None, first.pod)
    assert (rig.where("p1"), rig.where("p2")) == (BACKOFF, UNSCHEDULABLE)
    rig.queue.move_all(UNSCHEDULABLE_TIMEOUT)
    assert second.queue is BACKOFF


def test_rule_12_an_event_that_no_plugin_registered_leaves_no_trace() -> None:
    rig = QueueRig(events={"A": [NODE_ADDED]})
    rig.add_rejected("p")
    rig.add("in-flight")
    rig.pop()
    rig.queue.move_all(ASSIGNED_POD_ADD, None, make_pod(node="n1"))
    assert rig.where("p") is UNSCHEDULABLE
    assert rig.queue.in_flight_event_count == 0
    rig.queue.move_all(FORCE_ACTIVATE)
    assert rig.queue.in_flight_event_count == 1


def test_rule_13_a_pre_check_holds_for_queued_pods_only() -> None:
    rig = QueueRig()
    rig.add_rejected("p")
    rig.add("in-flight")
    queued = rig.pop()
    rig.queue.move_all(NODE_ADD, None, NODE, pre_check=lambda _pod: False)
    assert rig.where("p") is UNSCHEDULABLE
    assert rig.queue.in_flight_event_count == 1
    rig.reject(queued, "A")
    assert rig.where("in-flight") is BACKOFF


def test_rule_13_nothing_is_recorded_while_no_pod_is_in_flight() -> None:
    rig = QueueRig()
    rig.add("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.queue.in_flight_event_count == 0


def test_rule_14_events_leave_active_and_backing_off_pods_alone() -> None:
    rig = QueueRig()
    rig.add_rejected("waiting")
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("active")
    rig.incoming()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert (rig.where("waiting"), rig.where("active")) == (BACKOFF, ACTIVE)
    assert rig.incoming() == {}
