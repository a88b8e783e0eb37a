"""What may happen at any moment of an attempt: events, errors, deleted pods.

See docs/explanation/reliability.md. A plugin that is asked at every extension point
does what a test wants at one of them, the first time.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    Handle,
    Pod,
    Status,
    hookimpl,
)
from quaymaster.scheduler import QueueName
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import is_at_rest, uids_on_nodes

REJECTION = Status.unschedulable("not yet")
ERROR = Status.from_error("broken")
PHASES = [
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "reserve",
    "permit",
    "pre_bind_pre_flight",
    "pre_bind",
    "bind",
]
ON_A_NODE = PHASES[PHASES.index("reserve") :]


class Prober:
    """Does something at one extension point, once, and gives an answer there."""

    phase: ClassVar[str]
    act: ClassVar[Callable[[], Status | None]]
    is_over: ClassVar[bool]
    unreserved: ClassVar[list[str]]
    refused: ClassVar[Status | None] = None

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    def told(self, phase: str, pod: Pod) -> Status | None:
        cls = type(self)
        if phase == "filter" and cls.refused:
            return cls.refused  # on the other nodes, too
        if phase == "pre_filter":
            cls.refused = None
        if pod.name != "p" or cls.is_over:
            return None
        if phase == "filter" and cls.phase == "post_filter":
            return REJECTION
        if phase != cls.phase:
            return None
        cls.is_over = True
        answer = cls.act()
        if phase == "filter":
            cls.refused = answer
        return answer

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE)),
        ]

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return self.told("pre_filter", pod)

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return self.told("filter", pod)

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        return self.told("post_filter", pod) or REJECTION

    @hookimpl
    def pre_score(self, pod: Pod) -> Status | None:
        return self.told("pre_score", pod)

    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return self.told("reserve", pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        type(self).unreserved.append(pod.name)

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        return self.told("permit", pod)

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> Status | None:
        return self.told("pre_bind_pre_flight", pod)

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        return self.told("pre_bind", pod)

    @hookimpl
    def bind(self, pod: Pod) -> Status:
        return self.told("bind", pod) or Status.skip()


def probed(
    phase: str, act: Callable[[SchedulerHarness], Status | None]
) -> SchedulerHarness:
    """A cluster of two nodes, on which the pod 'p' is about to be tried."""
    plugins: dict[str, object] = {"multiPoint": {"enabled": [{"name": "Prober"}]}}
    for point, last in (("bind", "DefaultBinder"), ("postFilter", "DefaultPreemption")):
        enabled = [{"name": "Prober"}, {"name": last}]
        plugins[point] = {"disabled": [{"name": "*"}], "enabled": enabled}
    harness = SchedulerHarness(
        [make_node(name="a"), make_node(name="b"), make_pod(name="p", uid="first")],
        plugins={"Prober": Prober},
        config={
            **HEADER,
            "profiles": [{"plugins": plugins}],
        },
    )
    Prober.phase, Prober.is_over, Prober.unreserved = phase, False, []
    Prober.refused = None
    Prober.act = staticmethod(lambda: act(harness))
    return harness


@pytest.mark.parametrize("phase", PHASES)
def test_event_at_any_phase_of_a_cycle_wakes_the_pod(phase: str) -> None:
    def act(harness: SchedulerHarness) -> Status:
        harness.cluster.create(make_node(name="late"))
        return REJECTION

    harness = probed(phase, act)
    harness.advance(30.0)  # far from the flush after five minutes
    assert harness.node_of("p")
    assert is_at_rest(harness)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("answer", [ERROR, REJECTION], ids=["error", "rejection"])
def test_failure_at_any_point_gives_everything_back_and_requeues(
    phase: str, answer: Status
) -> None:
    harness = probed(phase, lambda _harness: answer)
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


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("answer", [None, ERROR, REJECTION], ids=str)
def test_pod_deleted_at_any_phase_is_not_added_again(
    phase: str, answer: Status | None
) -> None:
    def act(harness: SchedulerHarness) -> Status | None:
        harness.cluster.delete(Pod, "default/p")
        return answer

    harness = probed(phase, act)
    harness.advance(400.0)
    assert harness.why_pending("p") is None
    assert harness.attempts == ["default/p"]
    assert uids_on_nodes(harness) == []
    assert is_at_rest(harness)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("answer", [None, ERROR, REJECTION], ids=str)
def test_pod_recreated_between_decide_and_bind_is_bound_in_its_new_incarnation(
    phase: str, answer: Status | None
) -> None:
    def act(harness: SchedulerHarness) -> Status | None:
        harness.cluster.delete(Pod, "default/p")
        harness.cluster.create(make_pod(name="p", uid="second"))
        return answer

    harness = probed(phase, act)
    harness.schedule_one()
    assert harness.pod("p").uid == "second"
    assert harness.node_of("p") == ""
    harness.advance(400.0)
    assert harness.node_of("p")
    assert harness.attempts == ["default/p", "default/p"]
    assert uids_on_nodes(harness) == ["second"]
    assert is_at_rest(harness)
