"""Searches for the best plan once: conditions, plans at once, plans in rounds."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.planning.answers import answer_of
from quaymaster._studies.planning.demand import Demand
from quaymaster._studies.planning.domains import find_rules
from quaymaster._studies.planning.estimates import Estimates
from quaymaster._studies.planning.groups import NodeGroup
from quaymaster._studies.planning.growing import Rounds
from quaymaster._studies.planning.needs import find_needs
from quaymaster._studies.planning.order import Order
from quaymaster._studies.planning.pace import Pace
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.planning.question import Question
from quaymaster._studies.planning.refutation import Refutation
from quaymaster._studies.planning.round_search import RoundSearch
from quaymaster._studies.planning.scale import Scale
from quaymaster._studies.planning.search import Search, SearchResult
from quaymaster._studies.planning.shapes import Shape, Shapes
from quaymaster._studies.planning.spot import SPOT
from quaymaster._studies.planning.trials import Trial, Trials

__all__ = ["Attempt", "Effort", "Outcome"]

_MOST_TRIALS: Final = 500
_FEWEST_TRIALS: Final = 20
_PODS_TO_TRY: Final = 250_000
"""How many pods may be scheduled in all trials together, about."""


@attrs.frozen(kw_only=True, eq=False)
class Effort:
    """How a plan is searched, and what is called meanwhile.

    Attributes:
        max_trials: How many plans are tried at most; None: by the number of pods.
        in_rounds: Whether nodes may be bought in rounds.
        launches: Rounds to try first, such as those of an autoscaler; empty for none.
        pace: Ends the search when its time is over.
        on_progress: Called with how many plans were tried, and how many will be.
        on_better: Called with each plan that is better than those before.
    """

    max_trials: int | None = None
    in_rounds: bool = True
    launches: Rounds = ()
    pace: Pace = attrs.field(factory=Pace)
    on_progress: Callable[[int, int], None] = lambda _tried, _most: None
    on_better: Callable[[Plan], None] = lambda _plan: None

    def budget(self, pods: int) -> int:
        """Return how many plans may be tried."""
        if self.max_trials is not None:
            return self.max_trials
        return max(_FEWEST_TRIALS, min(_MOST_TRIALS, _PODS_TO_TRY // max(1, pods)))


@attrs.frozen(kw_only=True, eq=False)
class Outcome:
    """The end of a search.

    Attributes:
        trial: The best plan that works, or the last one that does not; None if none
            was tried.
        closest: Without a plan, the one that places most pods; None if none was tried.
        search: The result of the search; None if no search was needed.
        scale: The scale of its bounds.
        lack: Without a trial, what all plans have too little of.
        trials: Has tried the plans.
        tried: How many plans were tried.
        is_late: Whether the time was over before the end of the search.
    """

    trial: Trial | None
    closest: Trial | None = None
    search: SearchResult | None = None
    scale: Scale
    trials: Trials
    lack: str = ""
    tried: int = 0
    is_late: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the answer is proven."""
        return self.search is None or self.search.is_final


class Attempt:
    """Searches for the best plan of a question.

    Args:
        question: The question.
        cluster: A cluster with the input.
        demand: What needs room in every plan.
        shapes: The shapes of the groups' nodes.
        effort: How to search.
    """

    def __init__(
        self,
        question: Question,
        cluster: InMemoryCluster,
        demand: Demand,
        shapes: Shapes,
        effort: Effort,
    ) -> None:
        self._question = question
        self._demand = demand.without_left_out(question)
        self._shapes = shapes
        self._effort = effort
        # Losses are simulated as well.
        pods = demand.pods if question.loss is None else 2 * demand.pods
        self._budget = effort.budget(pods)
        self._trials = Trials(
            question,
            on_try=lambda tried: effort.on_progress(
                tried, max(self._budget, tried + 1)
            ),
            on_better=lambda trial: effort.on_better(answer_of(question, trial)),
            pace=effort.pace,
            shapes=shapes,
        )
        self._trials.know(cluster)
        self._lows = tuple(group.min_nodes for group in question.groups)
        self._highs = tuple(
            _most(group, shape, question)
            for group, shape in zip(question.groups, shapes.shapes, strict=True)
        )
        # More than any plan has nodes: the smallest difference in price then outweighs
        # all differences in number.
        self._scale = Scale(question.groups, sum(self._highs) + 1)

    def run(self) -> Outcome:
        """Search.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        question, demand, shapes = self._question, self._demand, self._shapes
        needs = find_needs(question, demand, shapes)
        rules = find_rules(question, demand, shapes)
        if (spot_rule := question.spot_rule()) is not None:
            rules = [*rules, spot_rule]
        weights = [self._scale.weight(group) for group in question.groups]
        refutation = Refutation(question, needs, demand.nodes, rules, self._lows)
        rounds = self._round_search(refutation, weights)
        for rule in rules:
            # A rule that more nodes cannot break is refuted for all plans by the
            # largest one.
            if rule.grows and not rule.is_met(self._highs):
                return self._lacking(f"{rule.of}, of which there are fewer", rounds)
        pace = self._effort.pace
        order = Order(needs, weights, self._lows, self._highs, pace.is_late)
        search = Search(
            question,
            self._trials,
            shapes,
            refutation,
            order,
            weights,
            self._lows,
            self._highs,
            self._budget,
            enough=2 * (demand.pods + len(demand.nodes) + sum(self._lows)) + 100,
            rounds=rounds if self._effort.in_rounds else None,
        ).run()
        return self._outcome(search, rounds, refutation)

    def _round_search(
        self, refutation: Refutation, weights: Sequence[int]
    ) -> RoundSearch:
        return RoundSearch(
            self._trials,
            Estimates(self._shapes, weights),
            refutation,
            weights,
            self._lows,
            self._highs,
            # Half of the trials: the other half is for plans whose nodes are all there
            # at once.
            max(1, self._budget // 2),
            self._effort.launches,
        )

    def _outcome(
        self, search: SearchResult, rounds: RoundSearch, refutation: Refutation
    ) -> Outcome:
        lack = ""
        if search.trial is None:
            what = refutation.lack(self._highs) or "what is needed after a loss"
            lack = f"even the most have too little: {what}"
        outcome = self._lacking(lack, rounds, search.trial)
        return attrs.evolve(outcome, search=search)

    def _lacking(
        self, lack: str, rounds: RoundSearch, trial: Trial | None = None
    ) -> Outcome:
        """Return the outcome; without a plan, with the one that places most pods."""
        tried = self._trials.number
        is_late = self._trials.is_over
        is_failed = trial is None or not trial.fits
        may_grow = self._effort.in_rounds and not is_late
        if is_failed and may_grow and rounds.closest is None:
            rounds.run_once()
        return Outcome(
            trial=trial,
            closest=rounds.closest or trial,
            scale=self._scale,
            trials=self._trials,
            lack=lack,
            tried=tried,
            is_late=is_late,
        )


def _most(group: NodeGroup, shape: Shape, question: Question) -> int:
    """Return the most nodes of a group, without spare ones."""
    only_spot = question.min_spot == 1 and SPOT not in shape.offered
    if shape.misfit is not None or only_spot:
        return 0
    return max(group.min_nodes, group.max_nodes - question.spare)
