"""Rules of upstream's scheduling queue, by number: how long a pod backs off."""

import pytest

from quaymaster.scheduler import FailureKind, QueueName
from quaymaster.testing import make_pod
from tests.kit.internals.queue import (
    NODE_ADD,
    BackoffPolicy,
    QueuedPod,
)
from tests.kit.queue_rig import (
    ACTIVE,
    BACKOFF,
    ERROR_BACKOFF,
    NODE,
    NODE_ADDED,
    START,
    UNSCHEDULABLE,
    CountingGate,
    QueueRig,
    pod_names,
)


@pytest.mark.parametrize(
    ("errors", "rejections", "attempts", "seconds"),
    [
        pytest.param(0, 1, 9, 1.0, id="attempts play no part"),
        pytest.param(0, 3, 3, 4.0, id="each failure doubles it"),
        pytest.param(0, 5, 5, 10.0, id="there is a limit"),
        pytest.param(0, 5000, 5000, 10.0, id="however many failures there are"),
        pytest.param(2, 4, 6, 2.0, id="errors come first"),
    ],
)
def test_rule_01_backoff_doubles_from_the_initial_duration_to_the_maximum(
    errors: int, rejections: int, attempts: int, seconds: float
) -> None:
    queued = QueuedPod(make_pod(), START, "default/pod")
    queued.consecutive_errors_count = errors
    queued.unschedulable_count = rejections
    queued.attempts = attempts
    assert BackoffPolicy().expiration(queued) == START + seconds


def test_rule_01_there_is_no_backoff_without_failures_or_with_a_maximum_of_0() -> None:
    queued = QueuedPod(make_pod(), START, "default/pod")
    assert BackoffPolicy().expiration(queued) is None
    queued.unschedulable_count = 1
    assert BackoffPolicy(max_seconds=0.0).expiration(queued) is None


def test_rule_02_a_pod_waits_through_the_whole_second_in_which_its_backoff_ends() -> (
    None
):
    rig = QueueRig(start=START + 0.25)
    rig.add("p")
    rig.error(rig.pop())  # 1 s from 0.25 ends in second 1
    queued = rig.queue.get("default/p")
    assert queued is not None
    assert queued.backoff_expiration == START + 1
    rig.clock.advance(1.5)
    assert rig.where("p") is ERROR_BACKOFF
    rig.clock.advance(0.25)  # second 2 begins
    assert rig.where("p") is ACTIVE


@pytest.mark.parametrize(("waited", "queue"), [(1.75, BACKOFF), (2.0, ACTIVE)])
def test_rule_02_a_pod_that_is_woken_in_that_second_still_waits(
    waited: float, queue: QueueName
) -> None:
    rig = QueueRig()
    rig.add_rejected("p")  # its backoff ends in second 1
    rig.clock.advance(waited)
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is queue


def test_rule_03_the_expiration_is_kept_until_the_next_failure() -> None:
    rig = QueueRig()
    queued = rig.add_rejected("p")
    assert queued.backoff_expiration is None  # not computed yet
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert queued.backoff_expiration == START + 1
    assert rig.pop() is queued
    assert queued.backoff_expiration == START + 1
    rig.reject(queued, "A")
    assert queued.backoff_expiration is None


def test_rule_04_rejections_and_errors_are_counted_apart() -> None:
    rig = QueueRig()
    rig.add("p")
    queued = rig.pop()
    for kind in (FailureKind.ERROR, FailureKind.NO_NODES):
        rig.clock.advance(0.5)
        queued.was_flushed = True
        rig.error(queued, kind)
        assert queued.timestamp == rig.clock.now()
        assert not queued.was_flushed
        rig.clock.advance(30.0)
        rig.pop()
    assert (queued.consecutive_errors_count, queued.unschedulable_count) == (2, 0)
    rig.reject(queued, "A")
    assert (queued.consecutive_errors_count, queued.unschedulable_count) == (0, 1)
    assert queued.attempts == 3


def test_rule_05_within_a_second_of_backoff_priority_decides_then_timestamp() -> None:
    rig = QueueRig(events={"A": [NODE_ADDED]})
    for name, priority in [("late", 9), ("old", 0), ("high", 5), ("new", 0)]:
        rig.add_rejected(name, priority=priority)
        rig.clock.advance(0.125)
    again = rig.queue.get("default/late")
    assert again is not None
    again.unschedulable_count = 3
    rig.add("error")
    rig.error(rig.pop())
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert pod_names(rig.queue.backing_off()) == ["high", "old", "new", "late"]
    assert pod_names(rig.queue.backing_off_after_error()) == ["error"]


def test_rule_06_pop_takes_active_pods_then_backoff_but_not_after_an_error() -> None:
    rig = QueueRig()
    rig.add_rejected("rejected", priority=9)
    rig.queue.move_all(NODE_ADD, None, NODE)
    rig.add("error", priority=9)
    rig.error(rig.pop())
    rig.add("active")
    rig.incoming()
    assert rig.pop().pod.name == "active"
    assert rig.pop().pod.name == "rejected"
    assert rig.incoming() == {"active|PopFromBackoffQ": 1}
    assert rig.queue.pop() is None
    assert rig.where("error") is ERROR_BACKOFF


@pytest.mark.parametrize("way", ["flush", "activate", "pop"])
def test_rule_07_gates_are_called_on_the_way_into_backoff_and_not_out_of_it(
    way: str,
) -> None:
    gate = CountingGate()
    rig = QueueRig(gates={"G": gate})
    queued = rig.add_rejected("p")
    gate.calls.clear()
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert gate.calls == ["p"]
    gate.blocked.add("p")
    if way == "flush":
        rig.clock.advance(2.0)
    elif way == "activate":
        rig.queue.activate([queued.pod])
    assert rig.pop() is queued
    assert gate.calls == ["p"]


def test_rule_07_a_gated_pod_does_not_enter_backoff() -> None:
    gate = CountingGate()
    rig = QueueRig(gates={"G": gate})
    queued = rig.add_rejected("p")
    gate.blocked.add("p")
    rig.queue.move_all(NODE_ADD, None, NODE)
    assert rig.where("p") is UNSCHEDULABLE
    assert queued.gating_plugin == "G"
