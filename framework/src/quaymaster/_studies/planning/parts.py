"""Searches with some of the groups: more choice must not make a plan dearer."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import Final

import attrs

from quaymaster._studies.planning.attempt import Effort, Outcome
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.planning.question import Counts, Question

__all__ = ["with_parts"]

_GROUPS: Final = 2
"""How many groups a part has at most."""
_PODS_TO_TRY: Final = 250_000
"""How many pods may be scheduled in all trials of all parts together, about."""
_FEWEST_TRIALS: Final = 20
"""With fewer trials a search is not worth its beginning."""

SearchFn = Callable[[Question, Effort], Outcome]
"""Searches for the best plan of a question."""


def with_parts(
    question: Question, effort: Effort, pods: int, search: SearchFn
) -> Outcome:
    """Search with all groups, then with one and two of them if nothing is proven.

    Each search tries other plans. A search with many groups may end with a mixture that
    is worse than a plan with one or two groups.

    Args:
        question: The question.
        effort: How to search.
        pods: How many pods a trial schedules, about.
        search: Searches once.
    """
    best = search(question, effort)
    parts = list(_parts(question))
    for part in parts:
        done = best.tried
        budget = _budget(effort, pods, len(parts), done)
        if best.is_final or best.is_late or budget < min(_FEWEST_TRIALS, pods):
            return best
        outcome = search(part, _beside(effort, best, question, budget))
        best = _better(question, best, outcome)
    return best


def _parts(question: Question) -> Iterator[Question]:
    """Yield the question with one group, and then with two of them."""
    usable = [i for i, group in enumerate(question.groups) if group.max_nodes]
    sizes = range(1, min(_GROUPS, len(usable) - 1) + 1)
    for members in chain.from_iterable(combinations(usable, size) for size in sizes):
        groups = tuple(
            group
            if index in members or group.min_nodes
            else attrs.evolve(group, max_nodes=0)
            for index, group in enumerate(question.groups)
        )
        yield attrs.evolve(question, groups=groups)


def _budget(effort: Effort, pods: int, parts: int, done: int) -> int:
    """Return how many plans of a part may be tried."""
    if effort.max_trials is not None:
        return effort.max_trials - done
    return min(effort.budget(pods), _PODS_TO_TRY // max(1, pods * parts))


def _beside(effort: Effort, best: Outcome, question: Question, budget: int) -> Effort:
    """Return the effort of a search beside another one, whose best plan it reports."""
    lightest = _weight(question, best)

    def on_better(plan: Plan) -> None:
        counts = tuple(group.nodes for group in plan.groups)
        if lightest is None or _weigh(question, best, counts) < lightest:
            effort.on_better(plan)

    return attrs.evolve(
        effort,
        max_trials=budget,
        on_progress=lambda tried, most: effort.on_progress(
            best.tried + tried, best.tried + most
        ),
        on_better=on_better,
    )


def _weight(question: Question, outcome: Outcome) -> int | None:
    trial = outcome.trial
    if trial is None or not trial.fits:
        return None
    return _weigh(question, outcome, trial.counts)


def _weigh(question: Question, outcome: Outcome, counts: Counts) -> int:
    return sum(
        count * outcome.scale.weight(group)
        for count, group in zip(counts, question.groups, strict=True)
    )


def _better(question: Question, best: Outcome, other: Outcome) -> Outcome:
    """Return the lighter of two outcomes, with the bounds of the first."""
    tried = best.tried + other.tried
    best = attrs.evolve(best, tried=tried, is_late=other.is_late)
    trial, old = other.trial, _weight(question, best)
    if trial is None or not trial.fits:
        return best
    if old is not None and _weigh(question, best, trial.counts) >= old:
        return best
    solution = best.search
    if solution is not None:
        # The bound of a plan at once says nothing about plans in rounds.
        is_other_kind = len(trial.rounds) > 1
        bound = solution.bound_in_rounds if is_other_kind else solution.bound
        bound = min(bound, _weigh(question, best, trial.counts))
        solution = attrs.evolve(solution, trial=trial, bound=bound)
    return attrs.evolve(best, trial=trial, trials=other.trials, search=solution)
