"""Adds spare nodes to a plan that works."""

import attrs

from quaymaster._studies.planning.growing import Rounds
from quaymaster._studies.planning.question import Counts
from quaymaster._studies.planning.trials import Trial, Trials

__all__ = ["spare_counts", "with_spare"]


def spare_counts(counts: Counts, spare: int) -> Counts:
    """Return the spare nodes of each group: some for each group that a plan uses."""
    return tuple(spare if count else 0 for count in counts)


def with_spare(trials: Trials, trial: Trial, spare: int) -> Trial:
    """Return the trial of a plan with spare nodes of each group that it uses.

    If all nodes were there from the beginning, the pods are placed again with all of
    them. If they do not all get a node then, or if the plan has rounds, the spare nodes
    are the last round.

    Args:
        trials: Tries plans.
        trial: The plan, which works.
        spare: How many more nodes each of these groups gets.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        LateError: The time of the search is over.
    """
    more = spare_counts(trial.counts, spare)
    if not any(more):
        return trial
    if len(trial.rounds) == 1:
        larger = tuple(map(sum, zip(trial.counts, more, strict=True)))
        at_once = trials.at(larger)
        if at_once.fits:
            return at_once
    rounds: Rounds = (*trial.rounds, more)
    return attrs.evolve(trials.replayed(rounds), rounds=rounds)
