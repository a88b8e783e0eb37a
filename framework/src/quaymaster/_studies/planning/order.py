"""Lists plans in the order of their cost, the cheapest first, lazily.

Plans that a need refutes are left out. The list comes from a best-first search over the
counts, one group after the other. The cost of the remaining groups has a lower bound:
for each need, the cost of meeting it with the cheapest group for it; the highest of
these costs counts. So a plan is listed when no remaining plan can be cheaper.
"""

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from quaymaster._studies.planning.needs import Need
from quaymaster._studies.planning.question import Counts

__all__ = ["Order"]

_STEPS: Final = 200_000
"""How many branches are opened at most; with many groups the number is unlimited."""
_FEW_GROUPS: Final = 10
"""Up to so many groups, all of these steps may be taken."""
_STEPS_BETWEEN_LOOKS: Final = 256
"""How many steps there are between two looks at the time."""
_ROUNDING: Final = 1 - 1e-12
"""Bounds are floats: they are lowered by more than the largest rounding error."""


# A heap compares it by bound and counts, which no two have in common. Comparing two
# attrs classes makes two tuples, which took a third of a plan with 30 groups.
class _Branch(NamedTuple):
    """The plans that begin with some counts.

    Attributes:
        bound: A lower bound of their costs.
        counts: The counts of the first groups.
        cost: The cost of these nodes.
        missing: What is still missing, by need.
        step: The neighbours to open: 1 for more nodes of the last group, -1 for fewer,
            0 for both.
    """

    bound: float
    counts: Counts
    cost: int
    missing: tuple[int, ...]
    step: int


class Order:
    """Plans in the order of their weight, each of which meets all needs.

    Args:
        needs: What every plan must meet.
        weights: What one node of each group weighs, as a positive number.
        lows: The fewest nodes of each group.
        highs: The most nodes of each group.
        is_late: Whether the time of the search is over; the list ends then.

    Attributes:
        bound: No remaining plan weighs less; infinite at the end.
        is_complete: Whether the list ended because no more plans exist.
    """

    def __init__(
        self,
        needs: Sequence[Need],
        weights: Sequence[int],
        lows: Counts,
        highs: Counts,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_late = is_late
        self._weights, self._lows, self._highs = weights, lows, highs
        self._needs = needs
        self._capacities = [
            tuple(need.capacity[index] for need in needs)
            for index in range(len(weights))
        ]
        self._ratios = [self._ratio(depth) for depth in range(len(weights) + 1)]
        self._reserves = [self._reserve(depth) for depth in range(len(weights) + 1)]
        # The least nodes of the later groups cost something, too.
        self._floors = [
            sum(w * n for w, n in zip(weights[d:], lows[d:], strict=True))
            for d in range(len(weights) + 1)
        ]
        self.bound: float = 0.0
        self.is_complete = False

    def again(self) -> "Order":
        """Return the same list from its beginning."""
        return Order(self._needs, self._weights, self._lows, self._highs, self._is_late)

    @property
    def _steps(self) -> int:
        """How many branches may be opened.

        A step takes time in proportion to the groups, and with more of them fewer steps
        end with a plan: 200,000 steps with 57 groups took minutes and found none, after
        6,000 a plan is grown from the best groups.
        """
        share = min(1.0, _FEW_GROUPS / len(self._weights)) if self._weights else 1.0
        return int(_STEPS * share * share)

    def __iter__(self) -> Iterator[tuple[int, Counts]]:
        heap: list[_Branch] = []
        root = _Branch(0.0, (), 0, tuple(need.missing for need in self._needs), 0)
        self._open(heap, root)
        for step in range(self._steps):
            if not heap:
                self.is_complete, self.bound = True, math.inf
                return
            # At least some steps are taken, as they raise the bound.
            if (step + 1) % _STEPS_BETWEEN_LOOKS == 0 and self._is_late():
                return
            branch = heapq.heappop(heap)
            self.bound = max(self.bound, branch.bound)
            self._widen(heap, branch)
            if len(branch.counts) == len(self._weights):
                yield branch.cost, branch.counts
            else:
                self._open(heap, branch)

    def _ratio(self, depth: int) -> tuple[float, ...]:
        """Return the least cost per unit of each need with groups from a depth on."""
        return tuple(
            min(
                (
                    weight / capacity[index]
                    for weight, capacity in zip(
                        self._weights[depth:], self._capacities[depth:], strict=True
                    )
                    if capacity[index]
                ),
                default=math.inf,
            )
            for index in range(len(self._needs))
        )

    def _reserve(self, depth: int) -> tuple[int, ...]:
        """Return what the groups from a depth on have with all their nodes."""
        return tuple(
            sum(
                high * capacity[index]
                for high, capacity in zip(
                    self._highs[depth:], self._capacities[depth:], strict=True
                )
            )
            for index in range(len(self._needs))
        )

    def _open(self, heap: list[_Branch], branch: _Branch) -> None:
        """Open the branch with the cheapest number of nodes of the next group."""
        depth = len(branch.counts)
        least = self._least(branch, depth)
        most = self._highs[depth]
        if least > most:
            return

        def bound(number: int) -> float:
            return self._bound(*self._with(branch, number), depth + 1)

        # From the best number outwards, as `_widen` opens the neighbours one by one.
        best = _lowest(bound, least, most)
        heapq.heappush(heap, self._child(branch, best, 0))

    def _least(self, branch: _Branch, depth: int) -> int:
        """Return the fewest nodes of a group with which the rest can meet all needs."""
        least = self._lows[depth]
        for missing, capacity, reserve in zip(
            branch.missing,
            self._capacities[depth],
            self._reserves[depth + 1],
            strict=True,
        ):
            short = missing - reserve
            if short > 0:
                # More than the highest: no number of these nodes helps.
                if not capacity:
                    return self._highs[depth] + 1
                least = max(least, -(-short // capacity))
        return least

    def _widen(self, heap: list[_Branch], branch: _Branch) -> None:
        """Open the neighbours: one node more, one node fewer."""
        depth = len(branch.counts) - 1
        *before, last = branch.counts
        capacity = self._capacities[depth]
        parent = _Branch(
            0.0,
            tuple(before),
            branch.cost - last * self._weights[depth],
            tuple(
                missing + last * each
                for missing, each in zip(branch.missing, capacity, strict=True)
            ),
            0,
        )
        # From the best number on, each branch goes one way only, so that no number is
        # opened twice. That lists all numbers in order, since the bound is convex.
        if branch.step >= 0 and last < self._highs[depth]:
            heapq.heappush(heap, self._child(parent, last + 1, 1))
        if branch.step <= 0 and last > self._least(parent, depth):
            heapq.heappush(heap, self._child(parent, last - 1, -1))

    def _child(self, branch: _Branch, number: int, step: int) -> _Branch:
        cost, missing = self._with(branch, number)
        counts = (*branch.counts, number)
        bound = self._bound(cost, missing, len(counts))
        return _Branch(bound, counts, cost, missing, step)

    def _with(self, branch: _Branch, number: int) -> tuple[int, tuple[int, ...]]:
        """Return the cost and what is missing with nodes of a branch's next group."""
        depth = len(branch.counts)
        cost = branch.cost + number * self._weights[depth]
        missing = tuple(
            short - number * each
            for short, each in zip(branch.missing, self._capacities[depth], strict=True)
        )
        return cost, missing

    def _bound(self, cost: int, missing: Sequence[int], depth: int) -> float:
        if depth == len(self._weights):
            return float(cost)
        rest: float = self._floors[depth]
        for short, ratio in zip(missing, self._ratios[depth], strict=True):
            if short > 0:
                # The largest, not the sum: one node may meet several needs at once.
                rest = max(rest, short * ratio)
        return (cost + rest) * _ROUNDING


def _lowest(value: Callable[[int], float], least: int, most: int) -> int:
    """Return the number at which a convex function is lowest."""
    while least < most:
        middle = (least + most) // 2
        if value(middle + 1) < value(middle):
            least = middle + 1
        else:
            most = middle
    return least
