"""Collects the changes that plugins suggest for a pod that has no node."""

from collections.abc import Iterator

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import Suggestion
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt

__all__ = ["plugin_suggestions"]


def plugin_suggestions(algorithm: Algorithm, pod: Pod) -> Iterator[Suggestion]:
    """Yield the suggestions of all Filter plugins, in profile order.

    Args:
        algorithm: The plugins of the pod's profile.
        pod: The pod.
    """
    calls = [call for call in algorithm.filter.calls if call.suggests]
    if not calls:
        return
    attempt = Attempt.begin(CycleState(), pod, algorithm.nodes)
    algorithm.pre_filter.run(attempt)
    for call in calls:
        if call.plugin not in attempt.state.skip_filter_plugins:
            yield from call.suggest(attempt.state, pod)
