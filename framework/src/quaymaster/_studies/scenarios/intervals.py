"""Numbers over virtual time, as sums of amounts that existed for a while."""

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
    """A period, both ends included, in seconds since the beginning.

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
        values: The value from each of these times on, after all changes at that time.
            Shape ``(T,)``.
    """

    times: Float64Array
    values: Int64Array

    def at(self, time: float) -> int:
        """Return the value at a time, after all changes at that time."""
        return int(self.values[np.searchsorted(self.times, time, side="right") - 1])

    def on(self, times: Float64Array) -> Int64Array:
        """Return its values at some times."""
        return self.values[np.searchsorted(self.times, times, side="right") - 1]


def times_in(window: Window, *numbers: Steps) -> Float64Array:
    """Return the times of changes in a window, and the window's beginning."""
    begin = np.array([window.since])
    changes = [number.times for number in numbers]
    every = np.unique(np.concatenate([begin, *changes]))
    return every[(every >= window.since) & (every <= window.to)]


def steps_of(intervals: Iterable[Interval]) -> Steps:
    """Add amounts, each of which exists for a while.

    Args:
        intervals: Beginning, end and amount. An interval without an end goes on; an
            interval that ends when it begins is ignored.
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
