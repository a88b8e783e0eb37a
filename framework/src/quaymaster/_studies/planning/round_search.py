"""Searches for a plan whose nodes are bought in rounds.

In each round nodes are added for the pods that are still pending, while placed pods
stay where they are, as people and autoscalers do. Which nodes place most pods for their
price is estimated; a simulation of the growing cluster decides which pods they place.
Then nodes that turn out not to be needed are left out, and rounds are joined: each
change is simulated from the beginning.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import attrs

from quaymaster._studies.planning.estimates import Estimates
from quaymaster._studies.planning.growing import GrowingCluster, Rounds, sum_of
from quaymaster._studies.planning.pace import LateError
from quaymaster._studies.planning.question import Counts
from quaymaster._studies.planning.refutation import Refutation
from quaymaster._studies.planning.trials import Trial, Trials

__all__ = ["RoundSearch"]

_PARTS: Final = (1, 1 / 2, 1 / 4)
"""What part of the estimated nodes is bought in one round."""
_MOST_ROUNDS: Final = 60
_MOST_VAIN: Final = 3
"""How many purchases in a row may place no pod."""
_REPLAYS: Final = 10
"""How many plans are tried to leave nodes out."""
_JOINTS: Final = 6
"""How many plans are tried to join rounds."""


@attrs.define(eq=False)
class _Buyer:
    """Decides what to buy in each round.

    Attributes:
        estimates: Proposes nodes.
        groups: The groups to buy.
        highs: The most nodes of each group.
        part: What part of the proposed nodes is bought at once.
        is_in_vain: Whether a plan need not be tried.
        vain: The groups of which the last purchases placed no pod.
    """

    estimates: Estimates
    groups: Sequence[int]
    highs: Counts
    part: float
    is_in_vain: Callable[[Counts], bool]
    vain: list[int] = attrs.field(factory=list)

    def next(self, growing: GrowingCluster, trial: Trial | None) -> Counts | None:
        """Return what to buy now; None to give up.

        Args:
            growing: The cluster.
            trial: What is wrong with it if no pod is pending.
        """
        if len(growing.rounds) >= _MOST_ROUNDS:
            return None
        self._look_back(growing, trial)
        if len(self.vain) >= _MOST_VAIN:
            return None
        counts = growing.counts
        more = (
            self._for_pods(growing, trial)
            if trial is None or trial.pending
            else self._for_limits(trial)
        )
        # Also while a plan grows: a plan that is already heavier than the best one is
        # given up at once.
        if more is None or self.is_in_vain(sum_of([counts, more])):
            return None
        return more

    def _look_back(self, growing: GrowingCluster, trial: Trial | None) -> None:
        """Remember the groups of the last purchases if they placed no pod."""
        # The first round is given, not bought.
        if trial is not None or len(growing.rounds) < 2:
            return
        before, now = growing.pending[-2:]
        if now < before:
            self.vain.clear()
        else:
            self.vain += [index for index, n in enumerate(growing.rounds[-1]) if n]

    def _for_pods(self, growing: GrowingCluster, trial: Trial | None) -> Counts | None:
        pods = (
            growing.pending_pods()
            if trial is None
            else [pod for pod, _ in trial.pending]
        )
        # Stable: pods of one priority keep the order in which they came.
        pods.sort(key=lambda pod: -pod.priority)
        left = self._left(growing.counts)
        groups = [index for index in self.groups if index not in self.vain]
        purchases = self.estimates.purchases(pods, groups, left)
        if not purchases:
            return None
        best = purchases[0]
        # Buying only a part leaves later rounds something to correct, since the
        # estimate ignores most rules.
        nodes = max(1, math.ceil(best.nodes * self.part))
        return self._of(best.index, nodes)

    def _for_limits(self, trial: Trial) -> Counts | None:
        """Buy nodes so that less of what nodes offer is requested."""
        left = self._left(trial.counts)
        groups = [index for index in self.groups if left[index]]
        needed = self.estimates.nodes_for_limits(trial, groups)
        if needed is None:
            return None
        index, nodes = needed
        return self._of(index, min(nodes, left[index]))

    def _left(self, counts: Counts) -> Counts:
        return tuple(
            high - count for high, count in zip(self.highs, counts, strict=True)
        )

    def _of(self, index: int, nodes: int) -> Counts:
        return tuple(nodes if i == index else 0 for i in range(len(self.highs)))


class RoundSearch:
    """Searches for a plan whose nodes are bought in rounds.

    Args:
        trials: Tries plans.
        estimates: Proposes nodes.
        refutation: What every plan must meet in the end.
        weights: What one node of each group weighs.
        lows: The fewest nodes of each group.
        highs: The most nodes of each group.
        budget: How many plans may be tried.
        launches: Rounds to try first; empty for none.

    Attributes:
        closest: The plan that places most pods, of those that leave pods pending.
    """

    def __init__(
        self,
        trials: Trials,
        estimates: Estimates,
        refutation: Refutation,
        weights: Sequence[int],
        lows: Counts,
        highs: Counts,
        budget: int,
        launches: Rounds = (),
    ) -> None:
        self._trials = trials
        self._estimates = estimates
        self._refutation = refutation
        self._weights, self._lows, self._highs = weights, lows, highs
        self._budget = budget
        self._launches = launches
        self._best: Trial | None = None
        self.closest: Trial | None = None

    def run(self) -> Trial | None:
        """Search until the time is over; return the lightest plan, or None.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        with suppress(LateError):
            self._search()
        return self._best

    def run_once(self) -> None:
        """Buy nodes once, to find out how many pods can be placed.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        groups = range(len(self._weights))
        buyer = _Buyer(self._estimates, groups, self._highs, 1, self._is_in_vain)

        def buy(growing: GrowingCluster, trial: Trial | None) -> Counts | None:
            # Ends as soon as no pod is pending, whatever other limits say.
            return buyer.next(growing, None) if trial is None else None

        with suppress(LateError):
            self._keep(self._trials.grown(self._lows, buy))

    def _search(self) -> None:
        groups = range(len(self._weights))
        self._launch()
        for part in _PARTS:
            self._buy(groups, part)
        # At most a quarter of the trials: single groups are seldom better, and joining
        # needs trials, too.
        if len(groups) > 1 and self._trials.number + len(groups) < self._budget // 4:
            for index in groups:
                self._buy([index], _PARTS[1])
        if self._best is not None:
            self._join()
            # Again after leaving nodes out, as fewer nodes may allow other joints.
            self._leave_out()
            self._join()

    def _launch(self) -> None:
        """Try the given rounds, with the fewest nodes of each group in the first."""
        if not self._launches:
            return
        first, *later = self._launches
        rounds = (tuple(map(max, first, self._lows)), *later)
        counts = sum_of(rounds)
        is_possible = all(
            n <= high for n, high in zip(counts, self._highs, strict=True)
        )
        if is_possible and not self._is_in_vain(counts):
            self._keep(self._trials.replayed(rounds))

    def _buy(self, groups: Sequence[int], part: float) -> None:
        if self._trials.number >= self._budget:
            return
        buyer = _Buyer(self._estimates, groups, self._highs, part, self._is_in_vain)
        self._keep(self._trials.grown(self._lows, buyer.next))

    def _keep(self, trial: Trial) -> bool:
        """Keep a plan if it is the lightest; return whether it does."""
        # A trial can succeed by luck where a condition proves that another seed fails.
        fits = trial.fits and not self._refutation.refutes_in_rounds(trial.counts)
        if fits and not self._is_too_heavy(trial.counts):
            self._best = trial
            self._trials.report(trial)
        elif trial.pending and self._is_closer(trial):
            self.closest = trial
        return fits

    def _is_closer(self, trial: Trial) -> bool:
        """Whether a plan that leaves pods pending places most pods so far."""
        if self.closest is None:
            return True
        left, before = len(trial.pending), len(self.closest.pending)
        is_lighter = self._weigh(trial.counts) < self._weigh(self.closest.counts)
        return left < before or (left == before and is_lighter)

    def _is_too_heavy(self, counts: Counts) -> bool:
        return self._best is not None and self._weigh(counts) >= self._weigh(
            self._best.counts
        )

    def _is_in_vain(self, counts: Counts) -> bool:
        return self._trials.is_over or self._is_too_heavy(counts)

    def _weigh(self, counts: Counts) -> int:
        return sum(n * each for n, each in zip(counts, self._weights, strict=True))

    def _leave_out(self) -> None:
        """Leave out nodes without which all pods get a node, too."""
        end = min(self._budget, self._trials.number + _REPLAYS)
        before = None
        # Identity: each plan that is found is a new one.
        while self._best is not None and self._best is not before:
            before = self._best
            rounds = before.rounds
            for number in reversed(range(len(rounds))):
                for index in range(len(self._weights)):
                    self._leave_out_of(number, index, end)

    def _leave_out_of(self, number: int, index: int, end: int) -> None:
        """Leave nodes of one group out of one round: first one, then twice as many."""
        assert self._best is not None
        gone = 1
        while self._may_try(end) and number < len(self._best.rounds):
            rounds = self._best.rounds
            low = self._lows[index] if number == 0 else 0
            if rounds[number][index] - gone < low:
                if gone == 1:
                    return
                gone = 1
                continue
            fewer = _without(rounds, number, index, gone)
            is_open = not self._refutation.refutes_in_rounds(sum_of(fewer))
            # Doubling while it works, and back to one after a failure: a surplus is
            # often many nodes of one round.
            if is_open and self._keep(self._trials.replayed(fewer)):
                gone *= 2
            elif gone == 1:
                return
            else:
                gone = 1

    def _may_try(self, end: int) -> bool:
        return self._trials.number < end and not self._trials.is_over

    def _join(self) -> None:
        """Join rounds as long as all pods get a node: fewer purchases are easier."""
        assert self._best is not None
        rounds = self._best.rounds
        for joined in _joints(rounds, self._best.pending_by_round)[:_JOINTS]:
            if len(joined) == 1 and joined[0] in self._trials.tried:
                continue
            if self._trials.is_over:
                return
            trial = self._trials.replayed(joined)
            if trial.fits:
                self._best = trial
                return


def _without(rounds: Rounds, number: int, index: int, gone: int) -> Rounds:
    """Return rounds with fewer nodes of a group in one of them."""
    fewer = tuple(
        count - gone if i == index else count for i, count in enumerate(rounds[number])
    )
    changed = (*rounds[:number], fewer, *rounds[number + 1 :])
    # Rounds that became empty are dropped, except the first, which may be empty.
    return (changed[0], *(counts for counts in changed[1:] if any(counts)))


def _joints(rounds: Rounds, pending: Sequence[int]) -> list[Rounds]:
    """Return ways to join rounds: all, all but one, by group, and pairs.

    The last way joins those that come after the last pod has got its node.

    Args:
        rounds: The nodes by round.
        pending: How many pods have no node after each round.
    """
    first, *later = rounds
    if not later:
        return []
    groups: dict[tuple[bool, ...], list[Counts]] = {}
    runs: list[list[Counts]] = []
    for counts in later:
        bought = tuple(map(bool, counts))
        groups.setdefault(bought, []).append(counts)
        if runs and tuple(map(bool, runs[-1][-1])) == bought:
            runs[-1].append(counts)
        else:
            runs.append([counts])
    pairs = [later[index : index + 2] for index in range(0, len(later), 2)]
    joints: list[Rounds] = [(sum_of(rounds),)]
    but_last = [later[:-1], later[-1:]] if len(later) > 1 else [later]
    placed = pending.index(pending[-1])
    rest = [later[placed:]] if later[placed:] else []
    when_placed = [*([counts] for counts in later[:placed]), *rest]
    for parts in ([later], but_last, [*groups.values()], runs, pairs, when_placed):
        joined = (first, *map(sum_of, parts))
        if len(joined) < len(rounds) and joined not in joints:
            joints.append(joined)
    return joints
