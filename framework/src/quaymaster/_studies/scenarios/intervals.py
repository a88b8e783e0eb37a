"""Numbers over virtual time, added up from what was there for a while."""

from collections.abc import Iterable
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

__all__ = [
    "Float64Array",
    "Int64Array",
    "Interval",
    "Steps",
    "Window",
    "steps_of",
    "times_in",
]

Float64Array: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Interval: TypeAlias = tuple[float, float | None, int]


@attrs.frozen(kw_only=True)
class Window:
    """A time, both ends included, in seconds since the beginning.

    Attributes:
        since: Its beginning.
        to: Its end; the same for a single moment.
    """

    since: float
    to: float


@attrs.frozen(eq=False)
class Steps:
    """A number that stays the same until it changes.

    Attributes:
        times: When it changes, ascending, in seconds since the beginning; the first one
            is 0. Shape ``(T,)``.
        values: What it is from then on, once all that is due then has happened. Shape
            ``(T,)``.
    """

    times: Float64Array
    values: Int64Array

    def at(self, time: float) -> int:
        """Return what it is once all that is due at a time has happened."""
        return int(self.values[np.searchsorted(self.times, time, side="right") - 1])

    def on(self, times: Float64Array) -> Int64Array:
        """Return what it is at some times."""
        return self.values[np.searchsorted(self.times, times, side="right") - 1]


def times_in(window: Window, *numbers: Steps) -> Float64Array:
    """Return when anything changes in a window, and the window's beginning."""
    begin = np.array([window.since])
    changes = [number.times for number in numbers]
    every = np.unique(np.concatenate([begin, *changes]))
    return every[(every >= window.since) & (every <= window.to)]


def steps_of(intervals: Iterable[Interval]) -> Steps:
    """Add up amounts, each of which is there for a while.

    Args:
        intervals: Beginning, end and amount. What has no end goes on; what ends as it
            begins was never there.
    """
    changes = [(0.0, 0)]
    for since, until, amount in intervals:
        changes.append((since, amount))
        if until is not None:
            changes.append((until, -amount))
    when = np.array([time for time, _ in changes], dtype=np.float64)
    amounts = np.array([amount for _, amount in changes], dtype=np.int64)
    times, place = np.unique(when, return_inverse=True)
    sums = np.zeros(len(times), dtype=np.int64)
    np.add.at(sums, place, amounts)
    return Steps(times, np.cumsum(sums))
