"""Evaluates what the nodes of an autoscaler cost."""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._studies.scenarios.checks import Cost
from quaymaster._studies.scenarios.intervals import Window
from quaymaster._studies.scenarios.verdicts import Events, Verdict
from quaymaster._studies.simulation.autoscaler import AutoscaledNode

__all__ = ["judge_cost"]

_HOUR: Final = 3600


def judge_cost(check: Cost, events: Events, window: Window) -> Verdict:
    """Evaluate a condition on the cost of nodes in some time.

    Args:
        check: The condition.
        events: The history.
        window: The time.
    """
    expected = _expected(check)
    if events.autoscaled is None:
        reason = "no autoscaler: --autoscaler FILE gives the prices"
        return Verdict(holds=False, expected=expected, found=reason)
    nodes = [
        node
        for node in events.autoscaled
        if not check.groups or node.group in check.groups
    ]
    unknown = sorted({node.group for node in nodes if node.price is None})
    if unknown:
        reason = f"the price is unknown of the groups {', '.join(unknown)}"
        return Verdict(holds=False, expected=expected, found=reason)
    cost = round(sum(_cost(node, window.since, window.to) for node in nodes), 9)
    most, least = check.at_most, check.at_least
    is_over = most is not None and cost > most
    is_under = least is not None and cost < least
    failed_at = window.to if is_under else None
    if is_over and most is not None:
        failed_at = _passed_at(nodes, most, window)
    return Verdict(
        holds=not (is_over or is_under),
        expected=expected,
        found=f"{cost:.2f}",
        failed_at=failed_at,
    )


def _expected(check: Cost) -> str:
    bounds = [
        f"{words} {bound:g}"
        for words, bound in (("at least", check.at_least), ("at most", check.at_most))
        if bound is not None
    ]
    whose = f" of {', '.join(check.groups)}" if check.groups else ""
    return f"nodes{whose} cost {' and '.join(bounds)}"


def _cost(node: AutoscaledNode, since: float, to: float) -> float:
    """Return what a node costs in some time."""
    begin = max(since, node.ordered or 0.0)
    end = to if node.removed is None else min(to, node.removed)
    return max(0.0, end - begin) / _HOUR * (node.price or 0.0)


def _passed_at(nodes: Sequence[AutoscaledNode], most: float, window: Window) -> float:
    """Return when the cost becomes higher than a limit.

    Between two moments the cost grows evenly.
    """
    total, before = 0.0, window.since
    for moment in _moments(nodes, window):
        more = sum(_cost(node, before, moment) for node in nodes)
        if total + more > most:
            share = (most - total) / more
            return round(before + share * (moment - before), 6)
        total, before = total + more, moment
    return window.to


def _moments(nodes: Iterable[AutoscaledNode], window: Window) -> Sequence[float]:
    """Return the times at which nodes come or go, and the end."""
    times = {
        time
        for node in nodes
        for time in (node.ordered, node.removed)
        if time is not None and window.since < time < window.to
    }
    return [*sorted(times), window.to]
