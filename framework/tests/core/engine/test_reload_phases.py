"""A reload is requested at any moment of an attempt, and in any run of events.

No pod is lost, none is bound twice, and whatever was reserved is given back by the
plugins that reserved it.
"""

import contextlib
from collections.abc import Mapping
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Handle, PermitWait, Pod, Status, hookimpl
from quaymaster.cluster import NotFoundError
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER
from tests.kit.engine import cache_of, is_at_rest, scheduler_of
from tests.kit.probing import ERROR, PHASES, PROBING, REJECTION, Prober, probed
from tests.kit.profiles import fewer

WITH_ANSWER = [phase for phase in PHASES if phase not in ("pre_enqueue", "post_bind")]


def document(*plugins: str, name: str = "default-scheduler") -> dict[str, object]:
    enabled = {"multiPoint": {"enabled": [{"name": plugin} for plugin in plugins]}}
    points = PROBING if "Prober" in plugins else enabled
    return {**HEADER, "profiles": [{"schedulerName": name, "plugins": points}]}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("after", [["Prober"], []], ids=["same", "without it"])
def test_reload_at_any_phase_of_an_attempt_loses_no_pod_and_binds_none_twice(
    phase: str, after: list[str]
) -> None:
    def act(harness: SchedulerHarness) -> None:
        answers.append(harness.reload(document(*after)))

    answers = []  # type: ignore[var-annotated]  # of futures
    harness = probed(phase, act)
    harness.advance(400.0)
    assert [answer.done() for answer in answers] == [True]
    assert harness.node_of("p")
    assert is_at_rest(harness)
    # With PostFilter, the first attempt was rejected.
    assert len(harness.attempts) == (2 if phase == "post_filter" else 1)
    uid = harness.pod("p").uid
    assert sum(Prober.held.values()) == Prober.held[1, uid] + Prober.held[2, uid] <= 1


@pytest.mark.parametrize("phase", WITH_ANSWER)
@pytest.mark.parametrize("answer", [ERROR, REJECTION], ids=["error", "rejection"])
@pytest.mark.parametrize("after", [["Prober"], []], ids=["same", "without it"])
def test_attempt_that_fails_around_a_reload_is_unreserved_and_retried(
    phase: str, answer: Status, after: list[str]
) -> None:
    def act(harness: SchedulerHarness) -> Status:
        harness.reload(document(*after))
        return answer

    harness = probed(phase, act)
    harness.advance(30.0)  # far from the flush after five minutes
    assert harness.node_of("p")
    assert is_at_rest(harness)
    uid = harness.pod("p").uid
    assert Prober.held[1, uid] == 0
    assert Prober.held[2, uid] == len(after)


@pytest.mark.parametrize("phase", WITH_ANSWER)
@pytest.mark.parametrize("answer", [None, ERROR, REJECTION], ids=str)
def test_attempt_whose_profile_is_removed_ends_and_is_not_repeated(
    phase: str, answer: Status | None
) -> None:
    def act(harness: SchedulerHarness) -> Status | None:
        harness.reload(document(name="other"))
        return answer

    harness = probed(phase, act)
    harness.advance(400.0)
    assert harness.attempts == ["default/p"]
    assert bool(harness.node_of("p")) is (answer is None and phase != "post_filter")
    assert harness.why_pending("p") is None
    assert is_at_rest(harness)


# Any run of events ------------------------------------------------------------------


class Lettered:
    """Gates, rejects, keeps waiting or fails pods, by the digits of their names."""

    mistakes: ClassVar[list[str]] = []
    bound: ClassVar[set[str]] = set()

    def __init__(self, args: None, handle: Handle) -> None:
        self.reserved: set[str] = set()

    def expect(self, fact: bool, otherwise: str) -> None:
        """Note a mistake: the scheduler would get over an exception."""
        if not fact:
            Lettered.mistakes.append(otherwise)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return Status.unresolvable("gated") if "g" in pod.name else None

    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return Status.unschedulable("rejected") if "r" in pod.name else None

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.expect(pod.uid not in self.reserved, f"{pod.name} reserved twice")
        self.reserved.add(pod.uid)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.expect(pod.uid in self.reserved, f"{pod.name} was not reserved here")
        self.reserved.discard(pod.uid)

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return PermitWait(20.0) if "w" in pod.name else None

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        return Status.from_error("failed") if "f" in pod.name else None

    @hookimpl
    def post_bind(self, pod: Pod) -> None:
        self.expect(pod.uid in self.reserved, f"{pod.name} was not reserved here")
        self.expect(pod.uid not in Lettered.bound, f"{pod.name} bound twice")
        Lettered.bound.add(pod.uid)


def profiles(*items: tuple[str, bool]) -> dict[str, object]:
    listed = []
    for name, lettered in items:
        enabled = [{"name": "Lettered"}] if lettered else []
        listed.append(
            {"schedulerName": name, "plugins": {"multiPoint": {"enabled": enabled}}}
        )
    return {**document(), "profiles": listed}


CONFIGS = [
    profiles(("x", False)),
    profiles(("x", True)),
    profiles(("x", True), ("y", False)),
    profiles(("y", True), ("x", False)),
    profiles(("y", False)),
    {**profiles(("x", False), ("y", False)), "podInitialBackoffSeconds": 5},
]
EVERYTHING = profiles(("x", False), ("y", False))
STEPS = st.one_of(
    st.tuples(st.just("reload"), st.sampled_from(CONFIGS)),
    st.tuples(st.just("attempt"), st.integers(1, 3)),
    st.tuples(st.just("advance"), st.sampled_from([0.5, 3.0, 25.0])),
    st.tuples(
        st.just("create"),
        st.tuples(st.sampled_from("xy"), st.sampled_from(["", "g", "r", "w", "f"])),
    ),
    st.tuples(st.just("delete"), st.integers(0, 9)),
)


class Play:
    """A cluster in which things happen in some order."""

    def __init__(self) -> None:
        self.harness = SchedulerHarness(
            [make_node(name="a"), make_node(name="b")],
            plugins={"Lettered": Lettered},
            config=CONFIGS[0],
        )
        self.names: list[str] = []
        Lettered.mistakes, Lettered.bound = [], set()

    def reload(self, config: Mapping[str, object]) -> None:
        self.harness.reload(config)

    def attempt(self, times: int) -> None:
        for _ in range(times):
            self.harness.schedule_one()

    def advance(self, seconds: float) -> None:
        self.harness.advance(seconds)

    def create(self, what: tuple[str, str]) -> None:
        scheduler, mood = what
        name = f"{len(self.names)}{mood}"
        self.names.append(name)
        pod = make_pod(name=name, scheduler_name=scheduler)
        self.harness.cluster.create(pod)

    def delete(self, number: int) -> None:
        if number < len(self.names):
            with contextlib.suppress(NotFoundError):
                self.harness.cluster.delete(Pod, f"default/{self.names[number]}")

    def is_accounted_for(self, pod: Pod) -> bool:
        """Whether a pod is in exactly the places where it belongs."""
        scheduler = scheduler_of(self.harness)
        queued = scheduler.queue.get(pod.key) is not None
        assumed = cache_of(scheduler).is_assumed(pod.uid)
        if pod.node_name or pod.is_terminating:
            return not queued
        if pod.spec.scheduler_name in scheduler.frameworks:
            return queued is not assumed
        return not queued


@pytest.mark.long
@fewer(2)  # each example is a history
@given(st.lists(STEPS, max_size=25))
def test_in_any_run_of_events_every_pod_is_accounted_for(
    steps: list[tuple[str, object]],
) -> None:
    play = Play()
    scheduler = scheduler_of(play.harness)
    for name, value in steps:
        getattr(play, name)(value)
        scheduler.catch_up()
        for pod in play.harness.cluster.list(Pod).items:
            assert play.is_accounted_for(pod), (name, pod.key)
    play.reload(EVERYTHING)
    play.advance(400.0)
    for pod in play.harness.cluster.list(Pod).items:
        assert pod.node_name, pod.key
    assert len(scheduler.queue) == 0
    assert Lettered.mistakes == []
    assert is_at_rest(play.harness)


PLAYS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(["1", "500m"]), st.booleans()),
    min_size=1,
    max_size=12,
)


@pytest.mark.long
@fewer(5)  # each example is two runs on 120 nodes
@given(PLAYS, st.integers(0, 3), st.sampled_from([30, 100]))
def test_reload_to_the_same_configuration_changes_no_decision(
    pods: list[tuple[int, str, bool]], seed: int, percentage: int
) -> None:
    config = {**document(), "percentageOfNodesToScore": percentage}

    def nodes_of(*, reloading: bool) -> list[str]:
        harness = SchedulerHarness(
            [
                make_node(name=f"n{number}", allocatable={"cpu": "8"})
                for number in range(120)
            ],
            config=config,
            seed=seed,
        )
        for number, (priority, cpu, now) in enumerate(pods):
            pod = make_pod(name=f"p{number}", priority=priority, requests={"cpu": cpu})
            harness.cluster.create(pod)
            if now:
                harness.schedule_one()
            if reloading:
                harness.reload(config)
        harness.settle()
        return [harness.node_of(f"p{number}") for number in range(len(pods))]

    assert nodes_of(reloading=True) == nodes_of(reloading=False)
