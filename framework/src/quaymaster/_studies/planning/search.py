"""Searches for the lightest plan that works.

First a plan is grown until it works, then it is shrunk. The same is done with plans of
a single group, and if none of these works, of two groups. If there are more lighter
plans than may be tried, the plan is varied: room moves from some groups to others. In
the end all lighter plans that nothing refutes are tried, the lightest first, within the
budget. The search does not rely on monotony: the scheduler is greedy, so a larger plan
may fail where a smaller one works. Growing, shrinking and varying only find a good
plan.
"""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Final

import attrs

from quaymaster._studies.planning.amounts import requested
from quaymaster._studies.planning.order import Order
from quaymaster._studies.planning.pace import LateError
from quaymaster._studies.planning.question import Counts, Question
from quaymaster._studies.planning.refutation import Refutation
from quaymaster._studies.planning.round_search import RoundSearch
from quaymaster._studies.planning.shapes import Shapes
from quaymaster._studies.planning.trials import Trial, Trials
from quaymaster._studies.planning.variation import variations
from quaymaster._studies.simulation.results import SimulationResult

__all__ = ["Search", "SearchResult"]

_ROUNDS: Final = 40
"""How often a plan is made larger before the search stops growing it."""
_STEP: Final = 1 / 64
"""By which part a plan is made larger at first; the part doubles every round."""
_VAIN_ROUNDS: Final = 3
"""How often a plan grows while no group can take any of the pending pods.

More nodes may still take other pods from those nodes of the input that could.
"""
_VAIN: Final = 20
"""How many plans are tried at most after growing has found none, if not all may be."""
_VAIN_BESIDE_ROUNDS: Final = 5
"""The same if there is a plan whose nodes are bought in rounds."""
_NOTHING: Final = SimulationResult(
    placements=(), unscheduled=(), preempted=(), pods=0, nodes=0
)
_SAVINGS: Final = (1 / 4, 1 / 8, 1 / 16)
"""The part of the gap to the bound that a variation must save."""


@attrs.frozen(kw_only=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes:
        trial: The lightest plan that does; without one, the last that does not, and
            None if nothing had to be tried.
        bound: No plan of its kind that does weighs less: if the nodes of the trial are
            all there from the beginning, no other such plan; if not, no plan at all.
        bound_in_rounds: No plan at all that does weighs less.
        is_final: Whether every lighter plan was refuted, or all plans if none does;
            plans in rounds only if they were searched.
        is_final_at_once: The same for plans whose nodes are bought at once.
    """

    trial: Trial | None
    bound: int
    bound_in_rounds: int
    is_final: bool
    is_final_at_once: bool


class Search:
    """Searches for the lightest plan that works.

    Args:
        question: The input.
        trials: Tries plans.
        shapes: The shapes of the groups' nodes.
        refutation: Refutes plans without trying them.
        order: All plans that no need refutes, the lightest first.
        weights: What one node of each group weighs.
        lows: The fewest nodes of each group.
        highs: The most nodes of each group.
        budget: How many plans may be tried; a plan is grown as far as it takes.
        enough: How many nodes are more than could be of use.
        rounds: Searches for plans whose nodes are bought in rounds; None for none.
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
        rounds: RoundSearch | None = None,
    ) -> None:
        self._question = question
        self._trials = trials
        self._shapes = shapes
        self._refutation = refutation
        self._order = order
        self._weights, self._lows, self._highs = weights, lows, highs
        self._budget = budget
        self._enough = enough
        self._rounds = rounds
        self._bought: Trial | None = None
        self._plans = iter(order)
        self._waiting: deque[tuple[int, Counts]] = deque()
        # Results are dropped: a hundred results of a large input take 160 MB.
        self._failures: dict[Counts, Trial] = {}
        self._best: Trial | None = None
        self._failed: Trial | None = None

    def run(self) -> SearchResult:
        """Search until the time is over.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        # What was found until then still counts.
        with suppress(LateError):
            self._search()
        return self._result()

    def _search(self) -> None:
        first = self._next()
        if first is None:
            if self._floor() < math.inf:
                self._buy()
        elif not self._try(first):
            self._buy()
            self._grow()
            self._shrink()
            if not self._is_proven():
                self._grow_parts()
            if not self._is_within_reach():
                if self._best is None:
                    vain = _VAIN if self._bought is None else _VAIN_BESIDE_ROUNDS
                    # Without any working plan, the rest of the trials is cut: the proof
                    # of impossibility would rarely come, and users wait for it.
                    self._budget = self._trials.number + min(self._left, vain)
                else:
                    self._vary()
                    self._shrink()
            self._try_lighter_ones()

    def _buy(self) -> None:
        """Search for a plan in rounds; heavier plans are not tried."""
        trial = None if self._rounds is None else self._rounds.run()
        if trial is not None and len(trial.rounds) > 1:
            self._bought = trial
        else:
            self._best = trial

    def _next(self) -> Counts | None:
        """Return the lightest plan that is neither refuted nor tried, or None."""
        while self._waiting or self._fetch():
            counts = self._waiting[0][1]
            # Plans may have been tried by growing since they were queued.
            if counts not in self._trials.tried:
                return counts
            self._waiting.popleft()
        return None

    def _fetch(self) -> bool:
        """Queue one more plan that nothing refutes; return whether there is one."""
        for weight, counts in self._plans:
            if not self._refutation.refutes(counts):
                self._waiting.append((weight, counts))
                return True
            if weight >= self._lightest:
                # Heavier plans are not needed, and their number is unlimited.
                self._waiting.append((weight, counts))
                return True
        return False

    @property
    def _lightest(self) -> float:
        """What the best plan weighs; infinite without one."""
        return min(
            (self._weigh(trial.counts) for trial in self._working_plans()),
            default=math.inf,
        )

    def _working_plans(self) -> Sequence[Trial]:
        """Return the best plans of both kinds, that which is bought at once first."""
        return [trial for trial in (self._best, self._bought) if trial is not None]

    @property
    def _left(self) -> int:
        """How many plans may still be tried."""
        return 0 if self._trials.is_over else self._budget - self._trials.number

    def _is_proven(self) -> bool:
        """Whether every plan that is lighter than the best one was refuted or tried."""
        return self._lightest <= self._next_weight()

    def _next_weight(self) -> float:
        """Return a weight below which every plan is refuted or tried."""
        counts = self._next()
        return self._order.bound if counts is None else self._weigh(counts)

    def _floor(self) -> float:
        """Return a weight below which conditions refute every plan, also in rounds.

        The lightest plan of all cannot be bought in rounds: its nodes are there from
        the beginning. So a trial refutes it.
        """
        order = self._order.again()
        has_failed = self._trials.tried.get(self._lows) is False
        for weight, counts in order:
            is_refuted = has_failed and counts == self._lows
            if weight >= self._lightest or not (
                is_refuted or self._refutation.refutes_in_rounds(counts)
            ):
                return weight
        return order.bound

    def _is_within_reach(self) -> bool:
        """Whether all lighter plans that nothing refutes may be tried."""
        # Counted instead of estimated: refutations are cheap, trials are simulations.
        lighter = sum(self._is_open(*plan) for plan in self._waiting)
        while lighter <= self._left:
            if self._waiting and self._waiting[-1][0] >= self._lightest:
                return True
            if not self._fetch():
                return self._order.is_complete
            lighter += self._is_open(*self._waiting[-1])
        return False

    def _is_open(self, weight: int, counts: Counts) -> bool:
        """Whether a plan would be better than the best one, if it worked."""
        return weight < self._lightest and counts not in self._trials.tried

    def _try_lighter_ones(self) -> None:
        """Try the plans that are lighter than the best one, lightest first."""
        while (counts := self._next()) is not None and self._left > 0:
            if self._weigh(counts) >= self._lightest or self._try(counts):
                return

    def _result(self) -> SearchResult:
        ahead, floor = self._next_weight(), self._floor()
        lightest = self._lightest
        plans = self._working_plans()
        trial = min(plans, key=lambda plan: self._weigh(plan.counts), default=None)
        if trial is None:
            trial = self._failed
        if trial is None and sum(self._highs) <= self._enough:
            # Every plan was refuted: the largest one shows what is missing.
            with suppress(LateError):
                trial = self._trials.at(self._highs)
        in_rounds = trial is not None and len(trial.rounds) > 1 and trial.fits
        return SearchResult(
            trial=trial,
            bound=_whole(min(floor if in_rounds else ahead, lightest)),
            bound_in_rounds=_whole(min(floor, lightest)),
            is_final=lightest <= (ahead if self._rounds is None else floor),
            is_final_at_once=lightest <= ahead,
        )

    def _weigh(self, counts: Counts) -> int:
        return sum(n * each for n, each in zip(counts, self._weights, strict=True))

    def _try(self, counts: Counts) -> bool:
        return self._tried(counts).fits

    def _tried(self, counts: Counts) -> Trial:
        """Try a plan, and keep it if it is the best one, or just fails."""
        trial = self._trials.at(counts)
        if trial.fits:
            if self._weigh(counts) < self._lightest:
                self._best = trial
                self._trials.report(trial)
            return trial
        # Failed trials are kept without their results; `_tried_once` returns them
        # instead of trying again.
        self._failures[counts] = attrs.evolve(
            trial,
            result=_NOTHING,
            utilization={},
            taken={},
            pods_of={},
            nodes=(),
            cluster=None,
        )
        # The later of two equal failures: it has more nodes, so what is still pending
        # says more.
        if self._failed is None or len(trial.pending) <= len(self._failed.pending):
            self._failed = trial
        return trial

    def _tried_once(self, counts: Counts) -> Trial:
        """Try a plan, unless an earlier trial of it failed; return the trial."""
        return self._failures.get(counts) or self._tried(counts)

    def _grow(self) -> None:
        """Add nodes that fit pending pods, until no pod is pending."""
        if self._failed is not None:
            self._grow_from(self._failed, range(len(self._weights)))

    def _grow_parts(self) -> None:
        """Grow plans with nodes of one group, then of two.

        More groups must not lead to a worse answer than fewer groups, but growing may
        mix groups of which one alone would be better. So plans of one group are tried
        even if no trial is left. Pairs are grown only until a plan works.
        """
        groups = [index for index, weight in enumerate(self._weights) if weight]
        if len(groups) < 2:
            return
        for size in (1, 2):
            for part in combinations(groups, size):
                # Groups alone are always tried, pairs only without a plan.
                if self._working_plans() and size > 1:
                    return
                before = self._best
                self._grow_part(part)
                # Identity: each plan that is found is a new one.
                if self._best is not before:
                    self._shrink()

    def _grow_part(self, part: Sequence[int]) -> None:
        """Grow a plan of some groups; of one group, from the fewest that may do."""
        counts = self._fewest(part[0]) if len(part) == 1 else self._lows
        if counts != self._lows and self._weigh(counts) >= self._lightest:
            return
        trial = self._tried_once(counts)
        if not trial.fits:
            self._grow_from(trial, part)

    def _fewest(self, index: int) -> Counts:
        """Return a plan with the fewest nodes of one group that nothing refutes."""
        lows, low, high = self._lows, self._lows[index], self._highs[index]
        high = min(high, low + self._enough)

        def with_nodes(nodes: int) -> Counts:
            return (*lows[:index], nodes, *lows[index + 1 :])

        # Refutation is monotonous in the nodes of one group, as each need is a sum.
        nodes = bisect_left(
            range(low, high),
            True,
            key=lambda count: not self._refutation.refutes(with_nodes(count)),
        )
        return with_nodes(low + nodes)

    def _grow_from(self, trial: Trial, groups: Collection[int]) -> None:
        """Add nodes of some groups until no pod is pending or the plan is too heavy."""
        for round_number in range(_ROUNDS):
            if round_number >= _VAIN_ROUNDS and self._is_in_vain(trial):
                return
            larger = self._larger(trial, 2**round_number, groups)
            if larger == trial.counts or sum(larger) > self._enough:
                return
            if self._trials.is_over:
                return
            if self._weigh(larger) >= self._lightest:
                return
            trial = self._tried_once(larger)
            if trial.fits:
                return

    def _is_in_vain(self, trial: Trial) -> bool:
        """Whether no group can take any of the pending pods."""
        pods = [pod for pod, _ in trial.pending]
        return bool(pods) and not any(map(self._shapes.takers, pods))

    def _larger(self, trial: Trial, factor: int, groups: Collection[int]) -> Counts:
        """Return a plan with more nodes of the groups that may help."""
        open_groups = [
            index
            for index in groups
            if trial.counts[index] < self._highs[index]
            and index not in trial.idle
            and self._weights[index]
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
                # Of equally cheap groups, such as those of two racks, all grow alike.
                index = min(
                    fractions,
                    key=lambda fraction: (
                        fractions[fraction] * self._weights[fraction],
                        trial.counts[fraction] + parts[fraction],
                        fraction,
                    ),
                )
                parts[index] += fractions[index]
                pods[index] += 1
        if not trial.pending and open_groups:
            index = self._roomiest(tuple(trial.missing), open_groups)
            parts[index], pods[index] = 1.0, factor
        for index in open_groups if trial.pending else ():
            # A pod that does not fit next to others may fit if all have more room.
            # Doubling parts of all groups: where pods block each other, the estimate by
            # single pods is too low.
            least = int(trial.counts[index] * factor * _STEP)
            parts[index], pods[index] = (
                max(parts[index], least / factor),
                max(pods[index], least),
            )
        return tuple(
            # At most one node for each pod that wants the group.
            min(high, count + min(wanting, math.ceil(part * factor)))
            for count, part, wanting, high in zip(
                trial.counts, parts, pods, self._highs, strict=True
            )
        )

    def _fraction(self, amounts: dict[str, int], index: int) -> float:
        """Return the largest part of a node's resource that a pod requests."""
        shape = self._shapes.shapes[index]
        return max(
            amount / room if (room := shape.room(name)) else 1.0
            for name, amount in amounts.items()
        )

    def _roomiest(self, names: Sequence[str], groups: Sequence[int]) -> int:
        """Return the group with most of some resources per weight."""
        shapes = self._shapes.shapes
        return max(
            groups,
            key=lambda group: min(
                (shapes[group].room(name) / self._weights[group] for name in names),
                default=-self._weights[group],
            ),
        )

    def _vary(self) -> None:
        """Move room between groups while that saves something."""
        for part in _SAVINGS:
            while self._saves(part):
                pass

    def _saves(self, part: float) -> bool:
        """Find a plan that saves a part of the gap to the bound."""
        lightest = self._next()
        assert self._best is not None
        if lightest is None:
            return False
        weight = self._weigh(self._best.counts)
        # At least 1, or equal plans would be tried for ever.
        saving = max(1, int((weight - self._weigh(lightest)) * part))
        for counts in variations(
            self._best.counts, self._weights, self._lows, self._highs, weight - saving
        ):
            is_open = self._is_open(self._weigh(counts), counts)
            if is_open and not self._refutation.refutes(counts):
                if self._left <= 0:
                    return False
                if self._try(counts):
                    return True
        return False

    def _shrink(self) -> None:
        """Remove nodes, the heaviest first, while the plan still works."""
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
        # One below the least always fails, by definition, and the plan at hand works.
        fails, does = self._lows[index] - 1, base[index]
        while does - fails > 1 and self._left > 0:
            middle = (fails + does) // 2
            counts = (*base[:index], middle, *base[index + 1 :])
            fits = self._trials.tried.get(counts)
            if fits is None:
                fits = not self._refutation.refutes(counts) and self._try(counts)
            if fits:
                does = middle
            else:
                fails = middle


def _whole(weight: float) -> int:
    return 0 if math.isinf(weight) else math.ceil(weight)
