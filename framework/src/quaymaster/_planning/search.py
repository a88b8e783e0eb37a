"""Searches for the lightest plan that does.

First a plan is grown until it does, then it is shrunk, and in the end all lighter plans
that no need refutes are tried, the lightest first, as long as the budget lasts. Nothing
rests on monotony: that a plan does says nothing of larger ones, since the scheduler is
greedy; growing and shrinking only find a good plan early.
"""

import math
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._planning.amounts import requested
from quaymaster._planning.order import Order
from quaymaster._planning.question import Counts, Question
from quaymaster._planning.refutation import Refutation
from quaymaster._planning.shapes import Shapes
from quaymaster._planning.trials import Trial, Trials

__all__ = ["Found", "Search"]

_ROUNDS: Final = 40
"""How often a plan is made larger before the search gives up growing it."""


@attrs.frozen(kw_only=True, eq=False)
class Found:
    """What a search found.

    Attributes:
        trial: The lightest plan that does; without one, the last that does not.
        bound: No plan that does weighs less.
        is_final: Whether every lighter plan was refuted, or all plans if none does.
    """

    trial: Trial
    bound: int
    is_final: bool


class Search:
    """Searches for the lightest plan that does.

    Args:
        question: What plans are to do.
        trials: Tries plans.
        shapes: What the groups' nodes offer.
        refutation: Refutes plans without trying them.
        order: All plans that no need refutes, the lightest first.
        weights: What one node of each group weighs.
        lows: The fewest nodes of each group.
        highs: The most nodes of each group.
        budget: How many plans may be tried; a plan is grown as far as it takes.
        enough: How many nodes are more than could be of use.
    """

    def __init__(
        self,
        question: Question,
        trials: Trials,
        shapes: Shapes,
        refutation: Refutation,
        order: Order,
        weights: Sequence[int],
        lows: Counts,
        highs: Counts,
        budget: int,
        enough: int,
    ) -> None:
        self._question = question
        self._trials = trials
        self._shapes = shapes
        self._refutation = refutation
        self._order = order
        self._weights, self._lows, self._highs = weights, lows, highs
        self._budget = budget
        self._enough = enough
        self._best: Trial | None = None
        self._failed: Trial | None = None

    def run(self) -> Found:
        """Search.

        Raises:
            AdmissionError: Some objects break rules, or ask for too many pods.
        """
        is_grown = False
        for weight, counts in self._order:
            if self._best is not None and weight >= self._weigh(self._best.counts):
                return self._found(weight, is_final=True)
            if counts in self._trials.tried or self._refutation.refutes(counts):
                continue
            if is_grown and len(self._trials.tried) >= self._budget:
                return self._found(weight, is_final=False)
            if self._try(counts):
                return self._found(weight, is_final=True)
            if not is_grown:
                is_grown = True
                self._grow(counts)
                self._shrink()
        bound = self._order.bound
        lightest = math.inf if self._best is None else self._weigh(self._best.counts)
        limit = min(bound, lightest)
        return self._found(
            0 if math.isinf(limit) else math.ceil(limit),
            is_final=self._order.is_complete or bound >= lightest,
        )

    def _found(self, bound: int, *, is_final: bool) -> Found:
        trial = self._best or self._failed
        if trial is None:
            # Every plan was refuted: the largest one shows what is lacking.
            is_large = sum(self._highs) > self._enough
            trial = self._trials.at(self._lows if is_large else self._highs)
        if trial.fits and is_final:
            bound = self._weigh(trial.counts)
        return Found(trial=trial, bound=bound, is_final=is_final)

    def _weigh(self, counts: Counts) -> int:
        return sum(n * each for n, each in zip(counts, self._weights, strict=True))

    def _try(self, counts: Counts) -> bool:
        trial = self._trials.at(counts)
        if not trial.fits:
            if self._failed is None or len(trial.pending) <= len(self._failed.pending):
                self._failed = trial
            return False
        if self._best is None or self._weigh(counts) < self._weigh(self._best.counts):
            self._best = trial
        return True

    def _grow(self, counts: Counts) -> None:
        """Add nodes that could take the pods that wait, until none waits."""
        for round_number in range(_ROUNDS):
            failed = self._failed
            if failed is None or failed.counts != counts:
                failed = self._trials.at(counts)
            larger = self._larger(failed, 2**round_number)
            if larger == counts or sum(larger) > self._enough:
                return
            counts = larger
            if counts not in self._trials.tried and self._try(counts):
                return

    def _larger(self, trial: Trial, factor: int) -> Counts:
        """Return a plan with more nodes of groups of which more may help."""
        open_groups = [
            index
            for index, (count, high) in enumerate(
                zip(trial.counts, self._highs, strict=True)
            )
            if count < high and index not in trial.idle and self._weights[index]
        ]
        parts = [0.0] * len(self._weights)
        pods = [0] * len(self._weights)
        for pod, _ in trial.pending:
            takers = self._shapes.takers(pod)
            fractions = {
                index: self._fraction(requested(pod), index)
                for index in open_groups
                if index in takers
            }
            if fractions:
                index = min(
                    fractions,
                    key=lambda one: (fractions[one] * self._weights[one], one),
                )
                parts[index] += fractions[index]
                pods[index] += 1
        if not trial.pending and open_groups:
            index = self._roomiest(trial.short, open_groups)
            parts[index], pods[index] = 1.0, factor
        return tuple(
            min(high, count + min(wanting, math.ceil(part) * factor))
            for count, part, wanting, high in zip(
                trial.counts, parts, pods, self._highs, strict=True
            )
        )

    def _fraction(self, amounts: dict[str, int], index: int) -> float:
        """Return the part of a node that a pod takes, of what is scarcest."""
        shape = self._shapes.shapes[index]
        return max(
            amount / room if (room := shape.room(name)) else 1.0
            for name, amount in amounts.items()
        )

    def _roomiest(self, names: Sequence[str], groups: Sequence[int]) -> int:
        """Return the group that has most of some resources for its weight."""
        shapes = self._shapes.shapes
        return max(
            groups,
            key=lambda one: min(
                (shapes[one].room(name) / self._weights[one] for name in names),
                default=-self._weights[one],
            ),
        )

    def _shrink(self) -> None:
        """Take nodes away, the heaviest first, while the plan still does."""
        heaviest_first = sorted(
            range(len(self._weights)), key=lambda index: -self._weights[index]
        )
        before = None
        # Identity: each plan that is found is a new one.
        while self._best is not None and self._best is not before:
            before = self._best
            for index in heaviest_first:
                self._shrink_group(index)

    def _shrink_group(self, index: int) -> None:
        assert self._best is not None
        base = self._best.counts
        fails, does = self._lows[index] - 1, base[index]
        while does - fails > 1 and len(self._trials.tried) < self._budget:
            middle = (fails + does) // 2
            counts = (*base[:index], middle, *base[index + 1 :])
            known = self._trials.tried.get(counts)
            if known is None:
                known = not self._refutation.refutes(counts) and self._try(counts)
            if known:
                does = middle
            else:
                fails = middle
