"""Slow calls delay only their own callers."""

from collections.abc import Callable

import pytest

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import (
    Fault,
    FaultyCluster,
    SchedulerHarness,
    make_node,
    make_pod,
)
from tests.kit.engine import scheduler_of
from tests.kit.internals.testing import SlowExecutor


class SlowCalls:
    """An executor with a log of its tasks."""

    def __init__(self, rates: dict[Fault, float], *, seed: int = 0) -> None:
        self.clock = VirtualClock()
        self.faulty = FaultyCluster(
            InMemoryCluster(self.clock),
            clock=self.clock,
            rates=rates,
            seed=seed,
            max_answer_seconds=3.0,
        )
        self.posted: list[Callable[[], None]] = []
        self.executor: SlowExecutor = self.faulty.make_executor(self.posted.append)
        self.log: list[str] = []

    def submit(self, name: str) -> None:
        def task() -> str:
            self.log.append(f"{name} begins")
            return name

        self.executor.submit(task, lambda name: self.log.append(f"{name} is heard of"))

    def advance(self, seconds: float) -> None:
        """Advance the time, then let the engine read its inbox."""
        self.clock.advance(seconds)
        while self.posted:
            self.posted.pop(0)()


def test_without_rates_everything_happens_at_once() -> None:
    world = SlowCalls({})
    world.submit("a")
    assert world.log == ["a begins", "a is heard of"]
    assert not world.faulty.counts


def test_a_slow_call_begins_later() -> None:
    world = SlowCalls({Fault.SLOW_CALL: 1})
    world.submit("a")
    assert world.log == []
    world.advance(3.0)
    assert world.log == ["a begins", "a is heard of"]
    assert world.faulty.counts == {Fault.SLOW_CALL: 1}


def test_a_slow_answer_arrives_later() -> None:
    world = SlowCalls({Fault.SLOW_ANSWER: 1})
    world.submit("a")
    assert world.log == ["a begins"]
    world.advance(3.0)
    assert world.log == ["a begins", "a is heard of"]
    assert world.faulty.counts == {Fault.SLOW_ANSWER: 1}


def test_an_answer_that_is_slow_already_stays_slow() -> None:
    world = SlowCalls({Fault.SLOW_ANSWER: 1})
    world.submit("a")
    world.faulty.set_rates({})
    world.submit("b")
    assert world.log == ["a begins", "b begins", "b is heard of"]
    world.advance(3.0)
    assert world.log[-1] == "a is heard of"


def test_slow_calls_overtake_each_other_as_the_seed_has_it() -> None:
    def play(seed: int) -> list[str]:
        world = SlowCalls({Fault.SLOW_CALL: 1, Fault.SLOW_ANSWER: 1}, seed=seed)
        for name in "abcd":
            world.submit(name)
        for _ in range(2):
            world.advance(3.0)
        assert len(world.log) == 8
        return world.log

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_answers_to_abandoned_calls_are_dropped() -> None:
    world = SlowCalls({Fault.SLOW_CALL: 1})
    world.submit("a")
    world.faulty.set_rates({Fault.SLOW_ANSWER: 1})
    world.submit("b")
    (call,) = world.executor.abandon()
    world.advance(6.0)
    assert world.log == ["b begins"]
    call()
    assert world.log == ["b begins", "a begins"]
    assert not world.executor.abandon()


def make_harness(fault: Fault, *, seed: int = 0) -> SchedulerHarness:
    return SchedulerHarness(
        [
            make_node(name="a", allocatable={"cpu": "2", "pods": "110"}),
            *(make_pod(name=f"p{number}", requests={"cpu": "1"}) for number in (1, 2)),
        ],
        faults={fault: 1},
        max_answer_seconds=2.0,
        seed=seed,
    )


def test_others_are_scheduled_while_a_bind_is_slow() -> None:
    harness = make_harness(Fault.SLOW_CALL)
    assert harness.schedule_one() == "default/p1"
    assert harness.schedule_one() == "default/p2"
    assert harness.node_of("p1") == harness.node_of("p2") == ""
    harness.advance(2.0)
    assert harness.node_of("p1") == harness.node_of("p2") == "a"


def test_a_pod_takes_room_before_the_answer_to_its_bind() -> None:
    harness = make_harness(Fault.SLOW_ANSWER)
    harness.schedule_one()
    harness.schedule_one()
    harness.cluster.create(make_pod(name="late", requests={"cpu": "1"}))
    assert harness.schedule_one() == "default/late"
    assert len(scheduler_of(harness).queue) == 1
    harness.settle()
    assert harness.node_of("p1") == harness.node_of("p2") == "a"
    assert "1 Insufficient cpu." in harness.message("late")


def test_a_pod_deleted_before_its_bind_arrives_leaves_nothing_behind() -> None:
    harness = make_harness(Fault.SLOW_CALL)
    harness.schedule_one()
    harness.cluster.delete(Pod, "default/p1", grace_period_seconds=0)
    harness.settle()
    assert harness.node_of("p2") == "a"
    (node,) = scheduler_of(harness).snapshot
    assert node.requested.milli_cpu == 1000
    assert len(scheduler_of(harness).queue) == 0


@pytest.mark.parametrize("fault", [Fault.SLOW_CALL, Fault.SLOW_ANSWER])
@pytest.mark.parametrize("seed", range(4))
def test_slow_calls_cost_time_only(fault: Fault, seed: int) -> None:
    harness = make_harness(fault, seed=seed)
    harness.settle()
    assert harness.node_of("p1") == harness.node_of("p2") == "a"
    assert harness.faulty.counts[fault] >= 2
