"""Histograms with a minimal cost of writing."""

import operator
from bisect import bisect_left
from typing import TypeAlias

import msgspec
import numpy as np

__all__ = ["Histogram", "Histograms", "Labels", "Measured", "exponential"]

Labels: TypeAlias = tuple[str, ...]


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Return the bounds of buckets that grow by a factor, as upstream computes them.

    Mirrors ``ExponentialBuckets`` (github.com/prometheus/client_golang): the bounds are
    repeated products, so that they have the same digits.
    """
    bounds = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


class Measured(msgspec.Struct, frozen=True, array_like=True):
    """A histogram as it is at one moment.

    Attributes:
        counts: How many values were in each bucket, the last one without a bound.
        total: The sum of all values.
    """

    counts: tuple[int, ...]
    total: float


class Histogram:
    """Counts values in buckets; one thread writes and reads it.

    Args:
        bounds: The upper bounds of the buckets, ascending; a bound is in its bucket.

    Attributes:
        keep: Stores a value for the next `fold`. This is the cheapest way to count; the
            caller must `fold` from time to time.
    """

    __slots__ = ("_bounds", "_counts", "_kept", "_total", "keep")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._kept: list[float] = []
        self._total = 0.0
        # A bound method of a list: one call in C for each value.
        self.keep = self._kept.append

    def observe(self, value: float, weight: int = 1) -> None:
        """Count a value ``weight`` times."""
        self._counts[bisect_left(self._bounds, value)] += weight
        self._total += value * weight

    def fold(self) -> None:
        """Count the stored values."""
        if not self._kept:
            return
        # In one pass over many values, instead of a search for each of them.
        values = np.array(self._kept, dtype=np.float64)
        self._kept.clear()
        buckets = np.searchsorted(self._bounds, values, side="left")
        counts = np.bincount(buckets, minlength=len(self._counts)).tolist()
        self._counts = list(map(operator.add, self._counts, counts))
        self._total += float(values.sum())

    def measured(self) -> Measured:
        """Return the counts so far."""
        self.fold()
        return Measured(tuple(self._counts), self._total)


class Histograms(dict[Labels, Histogram]):
    """Histograms with the same buckets, by their labels; created at the first access.

    Args:
        bounds: The upper bounds of the buckets, ascending.
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        super().__init__()
        self.bounds = bounds

    def __missing__(self, labels: Labels) -> Histogram:
        """Create the histogram of these labels."""
        histogram = self[labels] = Histogram(self.bounds)
        return histogram
