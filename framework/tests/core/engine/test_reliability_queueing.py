"""Pending pods are never forgotten, starved, or woken without need.

See docs/explanation/reliability.md.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pytest

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    NodeInfo,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
)
from quaymaster.scheduler import QueueName
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.engine import cache_of, scheduler_of

ONE_CPU = {"cpu": "1"}
NODE_ADDED = ClusterEvent(EventResource.NODE, ActionType.ADD)


class Moody:
    """Rejects its pod until the test sets another answer; its hint may fail."""

    says_no: ClassVar[bool]
    hint: ClassVar[QueueingHint | Exception]

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        if pod.name == "p" and self.says_no:
            return Status.unschedulable("not in the mood")
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [ClusterEventWithHint(NODE_ADDED, self._hint)]

    def _hint(
        self, _pod: Pod, _old: ApiObject | None, _new: ApiObject | None
    ) -> QueueingHint:
        if isinstance(self.hint, Exception):
            raise self.hint
        return self.hint


def moody_harness(hint: QueueingHint | Exception) -> SchedulerHarness:
    """Return a scheduler whose pod 'p' was rejected, and would now be accepted."""
    Moody.says_no, Moody.hint = True, hint
    config: Mapping[str, object] = profile_config(enable=["Moody"])
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Moody": Moody},
        config=config,
    )
    harness.schedule_one()
    Moody.says_no = False
    harness.cluster.create(make_node(name="b", taints=["no:NoSchedule"]))
    return harness


def test_pod_whose_hint_always_skips_is_retried_by_the_flush() -> None:
    harness = moody_harness(QueueingHint.SKIP)
    harness.advance(290.0)
    assert harness.node_of("p") == ""
    harness.advance(60.0)
    assert harness.node_of("p") == "a"


@pytest.mark.parametrize(
    "hint", [QueueingHint.QUEUE, ValueError("broken")], ids=["queue", "broken"]
)
def test_hint_that_queues_or_breaks_wakes_its_pod(
    hint: QueueingHint | Exception,
) -> None:
    """The new node does not fit, but must wake the pod nevertheless (#110175)."""
    harness = moody_harness(hint)
    harness.advance(30.0)
    assert harness.node_of("p") == "a"


def test_newer_pods_are_not_blocked_by_an_older_one_that_fails() -> None:
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="big", requests={"cpu": "64"}, priority=9)]
    )
    for number in range(30):
        harness.cluster.create(make_node(name=f"event-{number}", capacity=ONE_CPU))
        harness.cluster.create(make_pod(name=f"p{number}"))
        harness.advance(1.0)
        assert harness.node_of(f"p{number}")
    assert harness.attempts.count("default/big") <= 6


def test_pods_that_fail_alike_get_alike_many_attempts() -> None:
    """In an hour of events that help no pod, backoff is fair and bounded."""
    pods = [make_pod(name=f"p{number}", requests={"cpu": "9"}) for number in range(10)]
    harness = SchedulerHarness([make_node(name="a"), *pods])
    for number in range(60):
        harness.cluster.create(make_node(name=f"n{number}"))
        harness.advance(60.0)
    attempts = Counter(harness.attempts)
    assert len(attempts) == 10
    assert max(attempts.values()) - min(attempts.values()) <= 1


def test_pod_is_queued_for_the_plugins_that_rejected_it_last() -> None:
    """kubernetes/kubernetes#120334, #119105: old names led to the wrong queue."""
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity=ONE_CPU),
            make_pod(name="p", requests={"cpu": "2"}),
        ]
    )
    harness.schedule_one()
    before = harness.why_pending("p")
    assert before is not None
    assert before.rejected_by == ("NodeResourcesFit",)
    node = make_node(name="a", capacity={"cpu": "4"}, taints=["no:NoSchedule"])
    harness.cluster.update(node)
    harness.advance(30.0)
    after = harness.why_pending("p")
    assert after is not None
    assert after.queue is QueueName.UNSCHEDULABLE
    assert after.rejected_by == ("TaintToleration",)


def test_decisions_see_what_the_cluster_has() -> None:
    """The comparison that upstream makes on SIGUSR2, after an hour of changes."""
    run = {"simulation.quaymaster.io/run-seconds": "100"}
    harness = SchedulerHarness([make_node(name="a"), make_node(name="b")])
    for number in range(60):
        harness.cluster.create(
            make_pod(
                name=f"p{number}",
                requests=ONE_CPU,
                annotations=run,
                priority=number % 3,
            )
        )
        harness.advance(20.0)
        if number % 7 == 0:
            harness.cluster.delete(Pod, f"default/p{number}")
        harness.advance(5.0)
        stored = {
            pod.uid: pod.node_name
            for pod in harness.cluster.list(Pod).items
            if pod.node_name and not pod.is_finished
        }
        snapshot = scheduler_of(harness).snapshot
        assert {uid: info.name for info in snapshot for uid in info.pods} == stored
    assert cache_of(scheduler_of(harness)).assumed_count == 0


@pytest.mark.long
def test_many_failed_attempts_do_not_grow_memory() -> None:
    """kubernetes/kubernetes#118059, #114362: memory grew with failed attempts."""
    pods = [make_pod(name=f"p{number}", requests={"cpu": "9"}) for number in range(50)]
    harness = SchedulerHarness([make_node(name="a"), *pods])
    harness.advance(1800.0)
    for pod in pods:
        harness.cluster.delete(Pod, pod.key)
    harness.advance(600.0)
    queue = scheduler_of(harness).queue
    assert len(queue) == 0
    assert queue.in_flight_event_count == 0
    assert harness.clock.next_due() is None
