"""Mutations of private code; tests must find each of them."""

import heapq
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from quaymaster import Rows, Status
from quaymaster.scheduler import Clock, Timer
from tests.kit.internals.binding import BindingStations
from tests.kit.internals.cycle import Attempt
from tests.kit.internals.memo import ScoreMemo
from tests.kit.internals.queue import PodHeap

__all__ = [
    "ASKING",
    "FINISHING",
    "READING_LATER",
    "RESOLVING",
    "backwards",
    "last_first",
    "scoring_no_rows",
    "with_times_as_they_are",
]

Function: TypeAlias = Callable[..., Any]

ASKING = "_score_rows"
"""The method of `ScoreMemo` that calls plugins for rows."""
FINISHING = "_finish"
"""The method that ends `Evictions`."""
READING_LATER = "_read_later"
"""The method by which a `BindingCycle` waits for a pod that it cannot read."""
RESOLVING = "_resolve"
"""The method by which a `BindingCycle` finds out whether a pod was bound."""


def backwards(original: Function) -> Function:
    """Unreserve in the order of the reservations, and not in reverse."""

    def changed(self: BindingStations, *args: object) -> object:
        plan, self._plans = self._plan, {}
        self._plan = attrs.evolve(plan, unreserve=plan.unreserve[::-1])
        try:
            return original(self, *args)
        finally:
            self._plan, self._plans = plan, {}

    return changed


def last_first(original: Function) -> Function:
    """Put the pod that was pushed last before its equals."""

    def changed(self: PodHeap[Any], *args: Any) -> None:
        ahead = self._next_ticket
        self._next_ticket = lambda: -ahead()
        original(self, *args)
        self._next_ticket = ahead

    return changed


def with_times_as_they_are(_original: Function) -> Function:
    """Keep the numeric class of a timer's time in the virtual clock."""

    def call_at(
        self: Clock, due: float, callback: Function, *, background: bool = False
    ) -> Timer:
        timer = Timer(self, due, callback, background)
        self._foreground += not background
        self._set += 1
        heapq.heappush(self._timers, (due, self._set, timer))
        return timer

    return call_at


def scoring_no_rows(original: Function) -> Function:
    """Call the plugins with no rows at all."""

    def score_rows(self: ScoreMemo, attempt: Attempt, rows: Rows) -> Status | None:
        nodes = attempt.nodes
        for memo in self._filters:
            rows = memo.among(nodes, rows)
        for call in () if nodes.count(rows) else self._summed:
            scores = call.run(attempt, rows)
            assert isinstance(scores, Status) or not len(scores.weighted)
        found: Status | None = original(self, attempt, rows)
        return found

    return score_rows
