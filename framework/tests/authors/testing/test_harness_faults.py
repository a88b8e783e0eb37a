"""A scheduler on a failing cluster starts and keeps working."""

import pytest

from quaymaster.testing import Fault, SchedulerHarness, make_node, make_pod
from tests.kit.engine import informers_of, scheduler_of

OBJECTS = [
    make_node(name="a", allocatable={"cpu": "4", "pods": "110"}),
    make_node(name="b", allocatable={"cpu": "4", "pods": "110"}),
    *(make_pod(name=f"p{number}", requests={"cpu": "1"}) for number in range(6)),
]


def test_scheduler_starts_although_the_first_lists_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = SchedulerHarness(OBJECTS, faults={Fault.ERROR: 1})
    harness.advance(60.0)
    assert harness.attempts == []
    assert "Pod cannot be followed: injected: the call failed" in caplog.text
    harness.faulty.set_rates({})
    harness.advance(1.0)
    assert all(harness.node_of(f"p{number}") for number in range(6))


@pytest.mark.parametrize("seed", range(8))
def test_no_attempt_is_made_before_everything_is_listed(seed: int) -> None:
    harness = SchedulerHarness(OBJECTS, faults={Fault.ERROR: 0.6}, seed=seed)
    while not harness.attempts:
        harness.advance(1.0)
    informers = informers_of(scheduler_of(harness))
    assert informers.has_listed
    assert len(scheduler_of(harness).snapshot.nodes) == 2
    harness.faulty.set_rates({})
    harness.settle()
    assert all(harness.node_of(f"p{number}") for number in range(6))


@pytest.mark.parametrize("seed", range(4))
def test_every_fault_at_once_costs_time_only(seed: int) -> None:
    rates = dict.fromkeys(Fault, 0.2)
    del rates[Fault.DEAD_NODE]  # which costs pods
    harness = SchedulerHarness(OBJECTS, faults=rates, seed=seed)
    harness.advance(300.0)
    harness.faulty.set_rates({})
    harness.settle()
    assert sum(harness.faulty.counts.values()) > 0
    assert all(harness.node_of(f"p{number}") for number in range(6))
    for node in scheduler_of(harness).snapshot:
        assert node.requested.milli_cpu <= 4000


def test_a_preemptor_whose_evictions_fail_is_retried_at_once() -> None:
    """As ``prepareCandidateAsync`` (``framework/preemption/executor.go``) does."""
    harness = SchedulerHarness(
        [
            make_node(name="a", allocatable={"cpu": "1", "pods": "110"}),
            make_pod(name="victim", node="a", requests={"cpu": "1"}),
            make_pod(name="urgent", priority=9, requests={"cpu": "1"}),
        ]
    )
    harness.faulty.set_rates({Fault.ERROR: 1})
    for _ in range(3):
        assert harness.schedule_one() == "default/urgent"
    assert harness.pod("victim").node_name == "a"
    harness.faulty.set_rates({})
    harness.settle()
    assert harness.node_of("urgent") == "a"
