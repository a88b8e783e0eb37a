"""An explanation shows one attempt and summarises the others."""

import random

import msgspec
import pytest

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.objects import Time
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    ExplainedPod,
    PodNotFoundError,
    WhichAttempt,
    explain_pod,
    simulate,
)
from quaymaster.testing import make_node, make_pod

REGISTRY = PluginRegistry.discover()
LONG_AGO = Time(1_500_000_000.0)
FAR_AHEAD = Time(1_800_000_000.0)
NODE = make_node(name="n", capacity={"cpu": "2", "memory": "4Gi", "pods": "9"})


def why(
    pod: str,
    *objects: ApiObject,
    attempt: WhichAttempt | int = WhichAttempt.AUTO,
    unbind: bool = False,
) -> ExplainedPod:
    return explain_pod(
        pod,
        objects,
        config=default_config(REGISTRY),
        registry=REGISTRY,
        attempt=attempt,
        unbind=unbind,
    )


def leaving(deadline: Time) -> Pod:
    """Return a pod that fills the node and was deleted with a grace period of 30 s."""
    return deleted(make_pod(name="leaving", node="n", requests={"cpu": "2"}), deadline)


def deleted(pod: Pod, deadline: Time) -> Pod:
    metadata = msgspec.structs.replace(
        pod.metadata, deletion_timestamp=deadline, deletion_grace_period_seconds=30
    )
    return msgspec.structs.replace(pod, metadata=metadata)


def totals(explained: ExplainedPod) -> dict[str, int]:
    assert explained.explanation is not None
    return {score.node: score.total for score in explained.explanation.scores}


@pytest.mark.parametrize(
    "deadline",
    [
        pytest.param(LONG_AGO, id="deadline long ago"),
        pytest.param(FAR_AHEAD, id="deadline far ahead"),
    ],
)
def test_beside_terminating_pods_the_current_decision_is_explained(
    deadline: Time,
) -> None:
    explained = why(
        "p", NODE, leaving(deadline), make_pod(name="p", requests={"cpu": "1"})
    )
    assert explained.terminating == 1
    assert (explained.attempt, explained.outcome) == (1, "unschedulable")
    assert explained.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert explained.explanation is not None
    assert [rejection.node for rejection in explained.explanation.rejections] == ["n"]
    first, last = explained.attempts
    assert (first.at, first.outcome) == (0.0, "unschedulable")
    assert (last.outcome, last.node) == ("scheduled", "n")
    assert last.at > 0


def test_the_decision_after_terminating_pods_are_gone_is_explained_on_request() -> None:
    objects = (NODE, leaving(FAR_AHEAD), make_pod(name="p", requests={"cpu": "1"}))
    for attempt in (2, WhichAttempt.LAST):
        explained = why("p", *objects, attempt=attempt)
        assert (explained.attempt, explained.outcome) == (2, "scheduled")
        assert explained.attempts[0].explanation is None
        assert explained.explanation is explained.attempts[1].explanation


def test_every_attempt_is_explained_on_request() -> None:
    objects = (NODE, leaving(FAR_AHEAD), make_pod(name="p", requests={"cpu": "1"}))
    explained = why("p", *objects, attempt=WhichAttempt.ALL)
    assert [attempt.explanation is not None for attempt in explained.attempts] == [
        True,
        True,
    ]
    assert explained.attempt == 2


def test_an_attempt_that_preempts_names_its_victims_and_the_nominated_node() -> None:
    explained = why(
        "p",
        NODE,
        make_pod(name="victim", node="n", requests={"cpu": "2"}),
        make_pod(name="p", requests={"cpu": "1"}, priority=5),
    )
    first, last = explained.attempts
    assert (first.outcome, first.nominated_node) == ("unschedulable", "n")
    assert first.preempted == ("default/victim",)
    assert (last.outcome, last.node) == ("scheduled", "n")
    assert explained.attempt == 2


def test_a_missing_attempt_is_an_error() -> None:
    with pytest.raises(PodNotFoundError, match="attempt 2 does not exist: it was"):
        why("p", NODE, make_pod(name="p"), attempt=2)


def test_bound_pod_is_explained_again_after_it_is_removed_from_its_node() -> None:
    small = make_node(name="small", capacity={"cpu": "1", "pods": "9"})
    there = make_pod(name="there", node="n", requests={"cpu": "2"})
    assert why("there", NODE, small, there).outcome == "bound"
    explained = why("there", NODE, small, there, unbind=True)
    assert (explained.outcome, explained.node) == ("scheduled", "n")
    assert explained.explanation is not None
    assert [rejection.node for rejection in explained.explanation.rejections] == [
        "small"
    ]


def test_pod_that_was_placed_and_preempted_later_can_be_explained() -> None:
    run_5 = {"simulation.quaymaster.io/run-seconds": "5"}
    first = make_pod(name="first", requests={"cpu": "1"}, priority=9, annotations=run_5)
    late = make_pod(name="late", requests={"cpu": "2"}, priority=5)
    gone = make_pod(name="gone", requests={"cpu": "1"}, priority=1)
    explained = why("gone", NODE, first, gone, late)
    assert (explained.pod, explained.outcome) == ("default/gone", "scheduled")
    assert why("late", NODE, first, gone, late).attempts[1].preempted == (
        "default/gone",
    )


def test_pod_that_was_deleted_before_it_had_a_node_is_terminating() -> None:
    pod = make_pod(name="p")
    metadata = msgspec.structs.replace(
        pod.metadata, deletion_timestamp=LONG_AGO, finalizers=("example.com/f",)
    )
    deleted = msgspec.structs.replace(pod, metadata=metadata)
    explained = why("p", NODE, deleted)
    assert (explained.outcome, explained.attempts) == ("terminating", ())
    config = default_config(REGISTRY)
    result = simulate([NODE, deleted], config=config, registry=REGISTRY)
    assert (result.pods, result.unscheduled) == (0, ())


@pytest.mark.parametrize("seed", range(12))
def test_terminating_pods_count_like_running_ones(
    seed: int,
) -> None:
    """Filters and scores do not depend on the deletion of other pods."""
    chance = random.Random(seed)
    nodes = [
        make_node(
            name=f"n{n}", capacity={"cpu": f"{chance.randint(1, 4)}", "pods": "9"}
        )
        for n in range(8)
    ]
    running = [
        make_pod(
            name=f"p{number}",
            node=chance.choice(nodes).name,
            requests={"cpu": f"{chance.randint(1, 9) * 100}m"},
        )
        for number in range(20)
    ]
    going = [
        deleted(pod, chance.choice([LONG_AGO, FAR_AHEAD]))
        if chance.random() < 0.7
        else pod
        for pod in running
    ]
    wanted = make_pod(name="wanted", requests={"cpu": f"{chance.randint(5, 30)}00m"})
    now = why("wanted", *nodes, *going, wanted)
    beside_running = why("wanted", *nodes, *running, wanted, attempt=1)
    assert now.attempt == 1
    assert now.explanation is not None
    assert beside_running.explanation is not None
    assert now.explanation.rejections == beside_running.explanation.rejections
    assert totals(now) == totals(beside_running)
