"""How much room a node will have, now and later, by the requested times of its pods."""

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Timeline"]


class Timeline:
    """The free amounts of one node over time, as steps.

    Args:
        now: The current time.
        free: What is free now: resource -> amount.
        ends: When pods on the node end, and what each of them then releases.
    """

    __slots__ = ("_free", "_names", "_times")

    def __init__(
        self,
        now: float,
        free: Mapping[str, int],
        ends: Iterable[tuple[float, Mapping[str, int]]],
    ) -> None:
        self._names = tuple(free)
        self._times = [now]
        self._free = [[free[name] for name in self._names]]
        finite = (end for end in ends if end[0] < math.inf)
        for at, amounts in sorted(finite, key=lambda end: end[0]):
            last = self._free[-1]
            step = [
                amount + amounts.get(name, 0)
                for name, amount in zip(self._names, last, strict=True)
            ]
            # A pod that runs longer than requested may end at any moment.
            if at <= self._times[-1]:
                self._free[-1] = step
            else:
                self._times.append(at)
                self._free.append(step)

    def earliest(
        self, request: Mapping[str, int], seconds: float, after: float = -math.inf
    ) -> float:
        """Return the earliest time with room for some seconds; infinite for never.

        Args:
            request: The resources.
            seconds: How long they are needed.
            after: The earliest time that is allowed.
        """
        amounts = self._amounts(request)
        start: float | None = None
        times, steps = self._times, self._free
        if after > times[0]:
            first = bisect.bisect_right(times, after) - 1
            times, steps = [after, *times[first + 1 :]], steps[first:]
        for at, free in zip(times, steps, strict=True):
            # The room of the last step lasts for ever.
            if start is not None and at >= start + seconds:
                break
            if not _has(free, amounts):
                start = None
            elif start is None:
                start = at
        return math.inf if start is None else start

    @property
    def times(self) -> Sequence[float]:
        """When the free amounts change, ascending; first the current time."""
        return self._times

    def copy(self) -> "Timeline":
        """Return a copy, for a trial."""
        other = Timeline.__new__(Timeline)
        other._names = self._names
        other._times = list(self._times)
        other._free = [list(free) for free in self._free]
        return other

    def count(self, request: Mapping[str, int], start: float, seconds: float) -> int:
        """Return how many such requests have room from a time on, for some seconds."""
        amounts = self._amounts(request)
        index = bisect.bisect_right(self._times, start) - 1
        number = _count(self._free[index], amounts)
        index += 1
        while number and index < len(self._times):
            if self._times[index] >= start + seconds:
                break
            number = min(number, _count(self._free[index], amounts))
            index += 1
        return number

    def fits(self, request: Mapping[str, int], start: float, seconds: float) -> bool:
        """Whether there is room from a time on, for some seconds."""
        amounts = self._amounts(request)
        index = bisect.bisect_right(self._times, start) - 1
        while index < len(self._times) and self._times[index] < start + seconds:
            if not _has(self._free[index], amounts):
                return False
            index += 1
        return True

    def take(
        self, request: Mapping[str, int], start: float, seconds: float, number: int = 1
    ) -> None:
        """Reserve room from a time on, for some seconds.

        Args:
            request: The resources.
            start: When the reservation begins.
            seconds: How long it lasts.
            number: How many such requests there are.
        """
        amounts = self._amounts(request)
        first = self._cut(start)
        end = self._cut(start + seconds) if seconds < math.inf else len(self._times)
        for free in self._free[first:end]:
            for line, amount in enumerate(amounts):
                free[line] -= amount * number

    def _amounts(self, request: Mapping[str, int]) -> Sequence[int]:
        return [request.get(name, 0) for name in self._names]

    def _cut(self, at: float) -> int:
        """Return the index of the step that begins at a time; make it if needed."""
        index = bisect.bisect_left(self._times, at)
        if index == len(self._times) or self._times[index] != at:
            self._times.insert(index, at)
            self._free.insert(index, list(self._free[index - 1]))
        return index


def _has(free: Sequence[int], amounts: Sequence[int]) -> bool:
    return all(
        amount <= left or not amount for amount, left in zip(amounts, free, strict=True)
    )


def _count(free: Sequence[int], amounts: Sequence[int]) -> int:
    """Return how many requests fit; each of them requests something."""
    numbers = [
        left // amount for amount, left in zip(amounts, free, strict=True) if amount
    ]
    return max(0, min(numbers))
