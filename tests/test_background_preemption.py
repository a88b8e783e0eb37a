"""Preemption with slow calls to the cluster, on whole profiles."""

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.testing import Fault, SchedulerHarness, make_node, make_pod


class FullNode:
    """A node that two pods fill, and a more important pod that needs all of it."""

    def __init__(
        self, faults: Mapping[Fault, float] = {Fault.SLOW_CALL: 1.0}, seed: int = 0
    ) -> None:
        self.harness = SchedulerHarness(
            [
                make_node(name="a", allocatable={"cpu": "4", "pods": "9"}),
                self.victim("first", 5),
                self.victim("last", 1),
                make_pod(name="preemptor", requests={"cpu": "4"}, priority=9),
            ],
            faults=faults,
            max_answer_seconds=1.0,
            seed=seed,
        )
        self.cluster = self.harness.cluster
        self.harness.advance(0)

    def victim(self, name: str, priority: int) -> Pod:
        """Return a pod that ends as soon as it is deleted."""
        return make_pod(
            name=name,
            node="a",
            requests={"cpu": "2"},
            priority=priority,
            termination_grace_period_seconds=0,
        )

    def advance_until(self, holds: Callable[[], bool]) -> None:
        """Let calls reach the cluster, one after another, until a condition holds."""
        clock = self.harness.clock
        while not holds():
            due = clock.next_due()
            assert due is not None
            self.harness.advance(due - clock.now())

    @property
    def gate(self) -> str:
        pending = self.harness.why_pending("preemptor")
        return pending.gated_by if pending is not None else ""

    @property
    def pods(self) -> set[str]:
        return {pod.name for pod in self.cluster.list(Pod).items}


def test_a_preemptor_is_gated_until_its_last_victim_is_deleted() -> None:
    world = FullNode()
    assert world.pods == {"first", "last", "preemptor"}
    world.advance_until(lambda: "first" not in world.pods)
    assert world.pods == {"last", "preemptor"}
    # The event of that deletion would have woken it, and it would have preempted again.
    assert world.gate == "DefaultPreemption"
    world.harness.advance(60)
    assert world.pods == {"preemptor"}
    assert world.harness.node_of("preemptor") == "a"
    preempted = [
        event for event in world.cluster.events() if event.reason == "Preempted"
    ]
    assert [event.regarding.name for event in preempted] == ["first", "last"]


def test_a_preemptor_is_woken_if_its_last_victim_ends_by_itself_before() -> None:
    world = FullNode()
    world.advance_until(lambda: "first" not in world.pods)
    last = world.harness.pod("last")
    ended = replace(last, status=replace(last.status, phase="Succeeded"))
    world.cluster.update(ended)
    world.harness.advance(60)  # far from the flush after five minutes
    assert world.harness.node_of("preemptor") == "a"


def test_others_are_scheduled_while_victims_are_deleted() -> None:
    world = FullNode()
    world.cluster.create(make_node(name="b", allocatable={"cpu": "1", "pods": "9"}))
    world.cluster.create(make_pod(name="small", requests={"cpu": "1"}))
    world.harness.advance(0)
    assert world.pods == {"first", "last", "preemptor", "small"}
    assert world.harness.why_pending("small") is None
    assert world.gate in ("", "DefaultPreemption")
    world.advance_until(lambda: world.harness.node_of("small") == "b")


@pytest.mark.parametrize("seed", range(12))
def test_a_preemptor_waits_until_the_end_of_its_last_victim_is_reported(
    seed: int,
) -> None:
    # With some seeds, the answer to the last deletion comes before its event.
    world = FullNode({Fault.SLOW_CALL: 1.0, Fault.DELAYED_EVENTS: 0.8}, seed)
    world.harness.advance(60)
    assert world.harness.node_of("preemptor") == "a"
    (failed,) = [
        event for event in world.cluster.events() if event.reason == "FailedScheduling"
    ]
    # An attempt in between would find the last victim on the node.
    assert failed.series is None
