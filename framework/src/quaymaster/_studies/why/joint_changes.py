"""Finds one change that places the pending pods of several workloads."""

from collections.abc import Sequence

from quaymaster._api.objects import Pod
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.candidates import more_nodes
from quaymaster._studies.why.changes import SuggestedChange
from quaymaster._studies.why.suggestions import smallest
from quaymaster._studies.why.trials import Goal, Trials

__all__ = ["joint_change"]


def joint_change(
    run: Simulation, result: SimulationResult, pods: Sequence[Pod], trials: Trials
) -> SuggestedChange | None:
    """Return the smallest change of the nodes that places all of some pods, or None.

    Args:
        run: The simulation of the input, which has settled.
        result: Its result.
        pods: Pods without a node that have the same cause.
        trials: Tries changes out.

    Raises:
        OutOfTrialsError: No more simulations may be run.
    """
    goal = Goal.of(pods, run, trials.given.objects, result)
    for candidate in more_nodes(pods, run.cluster):
        change = smallest(candidate, goal, trials)
        if change is not None:
            return change
    return None
