"""A plugin that breaks a hook's contract fails one attempt, and is named.

Each case has a plugin give one wrong answer for the pod 'bad'; the pod 'good' must be
scheduled all the same.
"""

import asyncio
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from quaymaster import (
    Code,
    NodeVerdicts,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    Pod,
    PostFilterResult,
    PreBindWait,
    PreFilterResult,
    QueuedPodInfo,
    Status,
    hookimpl,
)
from quaymaster.testing import make_pod
from tests.kit.engine import scheduler_of
from tests.kit.faulty import Answer, Faulty, gives, schedule_two


class InPreFilter(Faulty):
    @hookimpl
    def pre_filter(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InFilter(Faulty):
    @hookimpl
    def filter(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InFilterNodes(Faulty):
    @hookimpl
    def filter(self, pod: Pod) -> None:
        return None

    @hookimpl
    def filter_nodes(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InPostFilter(Faulty):
    @hookimpl
    def filter(self, pod: Pod) -> Status | None:
        return Status.unschedulable("no") if pod.name == "bad" else None

    @hookimpl
    def post_filter(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InPreScore(Faulty):
    @hookimpl
    def pre_score(self, pod: Pod) -> object:
        return self.answer_for(pod)

    @hookimpl
    def score(self) -> int:
        return 0


class InScore(Faulty):
    @hookimpl
    def score(self, pod: Pod) -> object:
        return self.answer_for(pod, 0)


class InScoreNodes(Faulty):
    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def score_nodes(self, pod: Pod) -> object:
        return self.answer_for(pod, np.zeros(2, dtype=np.int64))


class InNormalizeScore(Faulty):
    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def normalize_score(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InReserve(Faulty):
    @hookimpl
    def reserve(self, pod: Pod) -> object:
        return self.answer_for(pod)

    @hookimpl
    def unreserve(self) -> None:
        pass


class InPermit(Faulty):
    @hookimpl
    def permit(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InPreFlight(Faulty):
    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> object:
        return self.answer_for(pod)

    @hookimpl
    def pre_bind(self) -> None:
        pass


class InPreBind(Faulty):
    @hookimpl
    def pre_bind(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InBind(Faulty):
    @hookimpl
    def bind(self, pod: Pod) -> object:
        return self.answer_for(pod, Status.skip())


class InAddPod(Faulty):
    """Gets a nominated pod that the node must have room for."""

    @hookimpl
    def pre_filter(self) -> None:
        pass

    @hookimpl
    def add_pod(self, pod: Pod) -> object:
        return self.answer_for(pod)

    @hookimpl
    def filter(self) -> None:
        pass


class InUnreserve(Faulty):
    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        return Status.unschedulable("no") if pod.name == "bad" else None

    @hookimpl
    def unreserve(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InPostBind(Faulty):
    @hookimpl
    def post_bind(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InPreEnqueue(Faulty):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> object:
        return self.answer_for(pod)


class InQueueSort(Faulty):
    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> object:
        return self.answer_for(queued.pod, (-queued.pod.priority, queued.timestamp))


def raises() -> object:
    raise ZeroDivisionError("oops")


def checks(check: Callable[..., Any]) -> Answer:
    return lambda: wait_for(check)


def untyped(make: Callable[..., object], *args: object) -> Answer:
    """Create an object from arguments that no type checker would accept."""
    return lambda: make(*args)


def no_reason(_code: int) -> Status:
    raise KeyError("no such reason")


class Sly(Status):
    """A status whose properties raise."""

    @property
    def is_rejected(self) -> bool:
        raise RuntimeError("no comment")


class Unreadable(Exception):
    """An exception that cannot even be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no comment")


class Proxy:
    """A proxy without an object, as web frameworks have them."""

    @property  # type: ignore[misc]  # as such proxies do
    def __class__(self) -> type:
        raise RuntimeError("working outside of context")


def raises_unreadable() -> object:
    raise Unreadable


def exits() -> object:
    sys.exit(3)


def is_cancelled() -> object:
    raise asyncio.CancelledError


def breaks_midway() -> Iterator[str]:
    yield "a"
    raise RuntimeError("no more")


def unhashable_reason() -> object:
    return untyped(Status.unschedulable, ["no"])()


ONES = np.ones(2, dtype=np.int64)
NANS = np.array([math.nan, 1.0])
HUGE = np.broadcast_to(np.int64(1), 1 << 40)
MASKED = np.ma.masked_array(ONES, mask=[True, False])

timed_out = Status.unschedulable("too slow")


def wait_for(
    check: object, timed_out: object = timed_out, interval: object = 1.0
) -> object:
    make: Callable[..., object] = PreBindWait
    return make(
        check=check, timeout_seconds=9.0, timed_out=timed_out, interval_seconds=interval
    )


def untyped_nomination(name: object) -> NominatingInfo:
    make: Callable[..., NominatingInfo] = NominatingInfo
    return make(name, NominatingMode.OVERRIDE)


def repeated_by(repeats: object) -> PostFilterResult:
    make: Callable[..., PostFilterResult] = PostFilterResult
    return make(Status.unschedulable(), repeats=repeats)


def proxy(_code: int) -> object:
    return Proxy()


def unhashable(_code: int) -> object:
    return unhashable_reason()


CASES: Sequence[tuple[str, type[Faulty], Answer]] = [
    *(
        (f"{hook.__name__}: {what}", hook, answer)
        for hook in (
            InPreFilter,
            InFilter,
            InFilterNodes,
            InPostFilter,
            InPreScore,
            InScore,
            InScoreNodes,
            InNormalizeScore,
            InReserve,
            InPermit,
            InPreFlight,
            InPreBind,
            InBind,
            InAddPod,
        )
        for what, answer in {
            "exception": raises,
            "wrong type": gives(3.5),
            "text": gives("no"),
            "error": gives(Status.from_error("oops")),
            "proxy": untyped(Proxy),
            "sly status": gives(Sly(Code.UNSCHEDULABLE)),
            "unhashable reason": unhashable_reason,
            "code as a number": untyped(Status, 2),
            "exception without a text": raises_unreadable,
            "exit": exits,
            "cancelled": is_cancelled,
            "generator": breaks_midway,
        }.items()
    ),
    ("names as a list", InPreFilter, untyped(PreFilterResult, ["a"])),
    ("names as a text", InPreFilter, untyped(PreFilterResult, "a")),
    ("reasons that are no text", InFilter, untyped(Status.unschedulable, 5)),
    ("wrong shape", InFilterNodes, untyped(NodeVerdicts, ONES[:1], no_reason)),
    ("codes in a list", InFilterNodes, untyped(NodeVerdicts, [1, 1], no_reason)),
    ("codes that are NaN", InFilterNodes, untyped(NodeVerdicts, NANS, no_reason)),
    ("no reason", InFilterNodes, untyped(NodeVerdicts, ONES, no_reason)),
    ("no status", InFilterNodes, untyped(NodeVerdicts, ONES, int)),
    ("wrong status", InPostFilter, untyped(PostFilterResult, "no")),
    ("wrong nomination", InPostFilter, untyped(PostFilterResult, None, "a")),
    ("score is NaN", InScore, gives(math.nan)),
    ("score is a truth value", InScore, gives(True)),
    ("score too high", InScore, gives(101)),
    ("score too low", InScore, gives(-1)),
    ("score beyond 64 bits", InScore, gives(1 << 70)),
    ("scores are NaN", InScoreNodes, gives(NANS)),
    ("scores of wrong shape", InScoreNodes, gives(ONES.reshape(2, 1))),
    ("too few scores", InScoreNodes, gives(ONES[:1])),
    ("scores of wrong dtype", InScoreNodes, gives(ONES.astype(np.int32))),
    ("scores in a list", InScoreNodes, gives([1, 1])),
    ("scores too high", InScoreNodes, gives(ONES * 101)),
    ("normalised to NaN", InNormalizeScore, gives(NANS)),
    ("normalised to too few", InNormalizeScore, gives(ONES[:1])),
    ("normalised too low", InNormalizeScore, gives(-ONES)),
    ("waits for NaN seconds", InPermit, untyped(PermitWait, math.nan)),
    ("waits for a text", InPermit, untyped(PermitWait, "10s")),
    ("check fails", InPreBind, checks(raises)),
    ("check of wrong type", InPreBind, checks(lambda: "done")),
    ("check gives nothing", InPreBind, checks(lambda: None)),
    ("check gives a proxy", InPreBind, checks(Proxy)),
    ("check gives a sly status", InPreBind, checks(lambda: Sly(Code.ERROR))),
    ("no check", InPreBind, untyped(wait_for, None)),
    ("times out with a text", InPreBind, untyped(wait_for, bool, "late")),
    ("asks all the time", InPreBind, untyped(wait_for, bool, timed_out, 0.0)),
    ("names that are numbers", InPreFilter, untyped(PreFilterResult, frozenset({1}))),
    ("sly post filter", InPostFilter, gives(PostFilterResult(Sly(Code.UNSCHEDULABLE)))),
    (
        "unhashable nomination",
        InPostFilter,
        gives(PostFilterResult(None, untyped_nomination(["a"]))),
    ),
    (
        "repeats by a number",
        InPostFilter,
        gives(repeated_by(5)),
    ),
    ("unhashable reasons", InFilterNodes, untyped(NodeVerdicts, ONES, unhashable)),
    (
        "reason is a proxy",
        InFilterNodes,
        untyped(NodeVerdicts, ONES, lambda _: Proxy()),
    ),
    ("masked codes", InFilterNodes, untyped(NodeVerdicts, MASKED, no_reason)),
    ("huge codes", InFilterNodes, untyped(NodeVerdicts, HUGE, no_reason)),
    ("masked scores", InScoreNodes, gives(MASKED)),
    ("huge scores", InScoreNodes, gives(HUGE)),
    ("scores of the other byte order", InScoreNodes, gives(ONES.astype(">i8"))),
    ("scores as objects", InScoreNodes, gives(ONES.astype(object))),
]


@pytest.mark.parametrize(
    ("plugin", "answer"),
    [pytest.param(plugin, answer, id=name) for name, plugin, answer in CASES],
)
def test_wrong_answer_fails_one_attempt_and_names_the_plugin(
    plugin: type[Faulty], answer: Answer
) -> None:
    points = {"bind": ["Faulty", "DefaultBinder"]} if plugin is InBind else {}
    other = make_pod(name="other", priority=9, nominated_node="a")
    nominated = [other] if plugin is InAddPod else []
    harness = schedule_two(plugin, answer, nominated=nominated, **points)
    assert harness.node_of("good")
    assert not harness.node_of("bad")
    pending = harness.why_pending("bad")
    assert pending is not None
    said = f"{harness.message('bad')} {pending.rejected_by}"
    assert "Faulty" in said


@pytest.mark.parametrize(
    ("plugin", "answer"),
    [(InUnreserve, raises), (InPostBind, raises)],
    ids=["unreserve", "post_bind"],
)
def test_hooks_that_must_not_fail_are_logged(
    plugin: type[Faulty], answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    harness = schedule_two(plugin, answer)
    assert harness.node_of("good")
    assert 'plugin "Faulty"' in caplog.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(raises, "'Faulty' failed for pod default/bad", id="exception"),
        pytest.param(gives(1), "'Faulty': pre_enqueue returned int", id="wrong type"),
    ],
)
def test_gate_that_breaks_its_contract_is_named_and_holds_its_pod_alone(
    answer: Answer, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    harness = schedule_two(InPreEnqueue, answer)
    assert harness.node_of("good")
    pending = harness.why_pending("bad")
    assert pending is not None
    assert pending.rejected_by == ("Faulty",)
    assert said in caplog.text
    why = scheduler_of(harness).gate_of(harness.pod("bad"))
    assert why is not None
    assert why.plugin == "Faulty"


@pytest.mark.parametrize(
    "answer",
    [raises, gives(None), gives("text"), gives(1)],
    ids=["raises", "nothing", "text", "number"],
)
def test_pod_whose_sort_key_fails_comes_last(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    harness = schedule_two(InQueueSort, answer, queueSort=["Faulty"])
    assert harness.node_of("good")
    assert harness.node_of("bad")
