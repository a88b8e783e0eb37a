"""Evaluates conditions on the history of a simulation."""

import math
from collections.abc import Iterable
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._studies.scenarios.checks import Checks, Evictions, PendingTime, Placed
from quaymaster._studies.scenarios.choosing import pod_test
from quaymaster._studies.scenarios.cost_judging import judge_cost
from quaymaster._studies.scenarios.group_judging import judge_groups
from quaymaster._studies.scenarios.intervals import Window
from quaymaster._studies.scenarios.measuring import (
    judge_balance,
    judge_nodes,
    judge_pods,
    judge_utilization,
)
from quaymaster._studies.scenarios.verdicts import Events, Verdict, span
from quaymaster._studies.simulation.history import PodLife

__all__ = ["judge"]


def judge(check: Checks, events: Events, window: Window | None) -> Verdict:
    """Evaluate a condition.

    Args:
        check: The condition.
        events: The history.
        window: The time in which it must hold. By default the end, or, for conditions
            on the whole history, from the beginning to the end.
    """
    at_end = window or Window(since=events.end, to=events.end)
    always = window or Window(since=0.0, to=events.end)
    if check.placed is not None:
        return _judge_placed(check.placed, events)
    if check.pending_time is not None:
        return _judge_pending_time(check.pending_time, events, always)
    if check.evictions is not None:
        return _judge_evictions(check.evictions, events, always)
    if check.cost is not None:
        return judge_cost(check.cost, events, always)
    if check.pods is not None:
        return judge_pods(check.pods, events, at_end)
    if check.nodes is not None:
        return judge_nodes(check.nodes, events, at_end)
    if check.utilization is not None:
        return judge_utilization(check.utilization, events, at_end)
    if check.pod_groups is not None:
        return judge_groups(check.pod_groups, events, at_end)
    assert check.balance is not None  # as validated
    return judge_balance(check.balance, events, at_end)


def _judge_placed(check: Placed, events: Events) -> Verdict:
    end = events.end if check.by is None else check.by.total_seconds()
    is_meant = pod_test(check.pods)
    selected = [
        pod for pod in events.history.pods if pod.created <= end and is_meant(pod)
    ]
    late = [life for life in selected if life.bound is None or life.bound > end]
    placed = len(selected) - len(late)
    # A pod that was deleted while it was pending does not lack a node.
    left = [life for life in late if _is_there(life, end)]
    minimum = check.at_least
    # Without any pod, "all pods" would hold by itself, and hide a wrong selector.
    holds = placed >= minimum if minimum is not None else bool(selected) and not left
    text = f"{placed} of {counted(len(selected), 'pod')} placed"
    bound = [
        life.bound for life in selected if life.bound is not None and life.bound <= end
    ]
    if holds and bound:
        text += f", the last one at {span(max(bound))}"
    what = "all pods" if minimum is None else f"at least {counted(minimum, 'pod')}"
    by = "" if check.by is None else f" by {span(end)}"
    return Verdict(
        holds=holds,
        expected=f"{what} placed{by}",
        found=text if selected else "there was no such pod",
        failed_at=None if holds else end,
        objects=() if holds else _keys(left),
    )


def _is_there(life: PodLife, time: float) -> bool:
    waited_until = life.waited_until
    return waited_until is None or waited_until > time


def _judge_pending_time(check: PendingTime, events: Events, window: Window) -> Verdict:
    most = check.at_most.total_seconds()
    is_meant = pod_test(check.pods)
    waits = [
        (round(_end_of_wait(pod, window.to) - pod.created, 6), pod)
        for pod in events.history.pods
        if window.since <= pod.created <= window.to and is_meant(pod)
    ]
    whose = "pod" if check.percentile == _ALL else f"{check.percentile:g} % of the pods"
    verb = "a pod waits" if whose == "pod" else f"{whose} wait"
    expected = f"{verb} at most {span(most)}"
    if not waits:
        return Verdict(holds=True, expected=expected, found="there was no such pod")
    lengths = sorted(length for length, _ in waits)
    # The nearest rank: a percentile is a wait that really happened.
    rank = max(math.ceil(len(lengths) * check.percentile / _ALL), 1)
    over = [life for length, life in waits if length > most]
    allowed = len(lengths) - rank
    holds = len(over) <= allowed
    text = f"up to {span(lengths[rank - 1])}"
    if over:
        text += f"; {len(over)} of {counted(len(waits), 'pod')} waited longer"
    times = sorted(life.created + most for life in over)
    return Verdict(
        holds=holds,
        expected=expected,
        found=text,
        # The moment when one pod too many has waited too long.
        failed_at=None if holds else round(times[allowed], 6),
        objects=() if holds else _keys(over),
    )


_ALL: Final = 100.0


def _end_of_wait(life: PodLife, end: float) -> float:
    waited_until = life.waited_until
    return end if waited_until is None else min(waited_until, end)


def _judge_evictions(check: Evictions, events: Events, window: Window) -> Verdict:
    is_meant = pod_test(check.pods)
    evictions = [
        eviction
        for eviction in events.evictions
        if eviction.cause in check.causes
        and window.since <= eviction.at <= window.to
        and is_meant(eviction.life)
    ]
    holds = len(evictions) <= check.at_most
    causes = [
        f"{number} {cause.lower()}"
        for cause in ("Preempted", "Drained", "Scaled", "Lost")
        if (number := sum(eviction.cause == cause for eviction in evictions))
    ]
    return Verdict(
        holds=holds,
        expected=f"at most {check.at_most} evicted",
        found=", ".join(causes) or "none",
        failed_at=None if holds else evictions[check.at_most].at,
        objects=() if holds else _keys(eviction.life for eviction in evictions),
    )


def _keys(lives: Iterable[PodLife]) -> tuple[str, ...]:
    return tuple(live.pod.key for live in lives)
