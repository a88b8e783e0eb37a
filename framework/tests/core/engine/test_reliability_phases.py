"""Events, errors and deleted pods may come at any moment of an attempt.

See docs/explanation/reliability.md. A plugin that is called at every extension point
does what a test wants at one of them, the first time.
"""

from collections.abc import Sequence

import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.scheduler import QueueName
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.engine import is_at_rest, uids_on_nodes
from tests.kit.probing import ERROR, PHASES, REJECTION, Prober, probed

WITH_ANSWER = PHASES[1:-1]
ON_A_NODE = WITH_ANSWER[WITH_ANSWER.index("reserve") :]


class Woken(Prober):
    """Registers for new nodes and deleted pods."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE)),
        ]


@pytest.mark.parametrize("phase", WITH_ANSWER)
def test_event_at_any_phase_of_a_cycle_wakes_the_pod(phase: str) -> None:
    def act(harness: SchedulerHarness) -> Status:
        harness.cluster.create(make_node(name="late"))
        return REJECTION

    harness = probed(phase, act, prober=Woken)
    harness.advance(30.0)  # far from the flush after five minutes
    assert harness.node_of("p")
    assert is_at_rest(harness)


@pytest.mark.parametrize("phase", WITH_ANSWER)
@pytest.mark.parametrize("answer", [ERROR, REJECTION], ids=["error", "rejection"])
def test_failure_at_any_point_unreserves_and_requeues(
    phase: str, answer: Status
) -> None:
    harness = probed(phase, lambda _harness: answer, prober=Woken)
    harness.schedule_one()
    assert Prober.unreserved == (["p"] if phase in ON_A_NODE else [])
    assert uids_on_nodes(harness) == []
    pending = harness.why_pending("p")
    assert pending is not None
    if answer is ERROR and phase != "post_filter":
        assert pending.queue is QueueName.ERROR_BACKOFF
    harness.advance(400.0)
    assert harness.node_of("p")
    assert uids_on_nodes(harness) == ["first"]
    assert is_at_rest(harness)


@pytest.mark.parametrize("phase", WITH_ANSWER)
@pytest.mark.parametrize("answer", [None, ERROR, REJECTION], ids=str)
def test_pod_deleted_at_any_phase_is_not_added_again(
    phase: str, answer: Status | None
) -> None:
    def act(harness: SchedulerHarness) -> Status | None:
        harness.cluster.delete(Pod, "default/p")
        return answer

    harness = probed(phase, act, prober=Woken)
    harness.advance(400.0)
    assert harness.why_pending("p") is None
    assert harness.attempts == ["default/p"]
    assert uids_on_nodes(harness) == []
    assert is_at_rest(harness)


@pytest.mark.parametrize("phase", WITH_ANSWER)
@pytest.mark.parametrize("answer", [None, ERROR, REJECTION], ids=str)
def test_pod_recreated_between_decide_and_bind_is_bound_in_its_new_incarnation(
    phase: str, answer: Status | None
) -> None:
    def act(harness: SchedulerHarness) -> Status | None:
        harness.cluster.delete(Pod, "default/p")
        harness.cluster.create(make_pod(name="p", uid="second"))
        return answer

    harness = probed(phase, act, prober=Woken)
    harness.schedule_one()
    assert harness.pod("p").uid == "second"
    assert harness.node_of("p") == ""
    harness.advance(400.0)
    assert harness.node_of("p")
    assert harness.attempts == ["default/p", "default/p"]
    assert uids_on_nodes(harness) == ["second"]
    assert is_at_rest(harness)
