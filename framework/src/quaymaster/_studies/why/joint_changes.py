"""Finds one change that places the pending pods of several workloads."""

from collections.abc import Sequence
from itertools import chain

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.candidates import more_nodes
from quaymaster._studies.why.changes import SuggestedChange
from quaymaster._studies.why.subject import Subjects
from quaymaster._studies.why.suggestions import smallest
from quaymaster._studies.why.trials import Goal, Trials

__all__ = ["JointChange", "joint_change"]


@attrs.frozen(eq=False)
class JointChange:
    """A change that places all pods of several workloads.

    Attributes:
        change: The change.
        groups: The numbers of the groups of pods that it places.
    """

    change: SuggestedChange
    groups: tuple[int, ...]


def joint_change(
    run: Simulation,
    result: SimulationResult,
    groups: Sequence[Sequence[Pod]],
    trials: Trials,
) -> JointChange | None:
    """Return the smallest change of the nodes that places several groups, or None.

    Groups that even the largest change does not place are left out.

    Args:
        run: The simulation of the input, which has settled.
        result: Its result.
        groups: Pods without a node, in groups that have the same cause.
        trials: Tries changes out.

    Raises:
        OutOfTrialsError: No more simulations may be run.
    """
    subjects = Subjects(trials.given.objects)
    owners = [subjects.of(group[0], run.cluster) for group in groups]
    for candidate in more_nodes(list(chain.from_iterable(groups)), run.cluster):
        # Pods may have other names in each simulation: what counts is whether their
        # workload has any pending pod left.
        # Level 0 has the most nodes: workloads that are still pending then are not
        # placed by fewer.
        pending = trials.pending(candidate.at(0).apply(trials.given.objects))
        placed = [number for number, owner in enumerate(owners) if not pending[owner]]
        if len(placed) < 2:
            continue
        pods = list(chain.from_iterable(groups[number] for number in placed))
        goal = Goal.of(pods, run, trials.given.objects, result)
        change = smallest(candidate, goal, trials)
        if change is not None:
            return JointChange(change, tuple(placed))
    return None
