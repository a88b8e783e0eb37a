"""Attempts from all sources have the same record type and outcomes."""

from collections.abc import Callable

import pytest

from quaymaster import Pod
from quaymaster.scheduler import PastAttempt
from quaymaster.simulation import (
    Attempt,
    AttemptOutcome,
    Run,
    Simulation,
    Step,
    StepOutcome,
    explain_pod,
    observe,
)
from quaymaster.testing import make_node, make_pod

NODE = make_node(name="n", capacity={"cpu": "1", "memory": "8Gi", "pods": "10"})
FITS = make_pod(name="p", uid="uid-1", requests={"cpu": "1"})
TOO_BIG = make_pod(name="p", uid="uid-1", requests={"cpu": "2"})


def from_history(pod: Pod) -> Attempt:
    with Simulation([NODE, pod]) as simulation:
        simulation.settle()
        return simulation.scheduler.past_attempts.of(pod.key)[0]


def from_explanation(pod: Pod) -> Attempt:
    return explain_pod(pod.name, [NODE, pod]).attempts[0]


def from_observation(pod: Pod) -> Attempt:
    return observe([NODE, pod]).attempts[0]


def from_run(pod: Pod) -> Attempt:
    with Run([NODE, pod]) as run:
        step = run.attempt()
    assert step is not None
    return step


SOURCES = [from_history, from_explanation, from_observation, from_run]
each_source = pytest.mark.parametrize("attempt_of", SOURCES)


@each_source
def test_an_attempt_that_places_its_pod_is_the_same_record(
    attempt_of: Callable[[Pod], Attempt],
) -> None:
    attempt = attempt_of(FITS)
    assert isinstance(attempt, Attempt)
    assert attempt.outcome is AttemptOutcome.SCHEDULED
    assert (attempt.key, attempt.uid) == ("default/p", "uid-1")
    assert (attempt.number, attempt.node, attempt.message) == (1, "n", "")


@each_source
def test_an_attempt_that_fails_is_the_same_record(
    attempt_of: Callable[[Pod], Attempt],
) -> None:
    attempt = attempt_of(TOO_BIG)
    assert attempt.outcome is AttemptOutcome.UNSCHEDULABLE
    assert (attempt.key, attempt.uid) == ("default/p", "uid-1")
    assert (attempt.number, attempt.node) == (1, "")
    assert attempt.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert attempt.reasons == ("Insufficient cpu",)
    assert attempt.plugins == ("NodeResourcesFit",)


def test_outcomes_are_equal_to_their_texts() -> None:
    texts = "scheduled waiting unschedulable error gone unfinished gated"
    assert texts.split() == [outcome.value for outcome in list(AttemptOutcome)[:7]]
    assert explain_pod("p", [NODE, FITS]).outcome == "scheduled"


def test_a_pod_that_came_with_a_node_has_a_separate_outcome() -> None:
    there = make_pod(name="p", node="n")
    outcome = explain_pod("p", [NODE, there]).outcome
    assert (outcome, outcome.value) == (AttemptOutcome.HAS_NODE, "bound")


def test_old_names_still_work() -> None:
    assert PastAttempt is Attempt
    assert StepOutcome is AttemptOutcome
    assert StepOutcome.BOUND.value == "scheduled"
    step = from_run(FITS)
    assert isinstance(step, Step)
    assert step.pod.name == "p"
    [attempt] = observe([NODE, FITS]).attempts
    assert (attempt.feasible, attempt.feasible_nodes) == (1, 1)
