"""Counts the nodes that a single reason keeps from a pod."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.pre_filter import restricted_rows
from quaymaster._core.state.arrays import RowArray

__all__ = ["sole_rejections"]


def sole_rejections(algorithm: Algorithm, pod: Pod) -> Counter[tuple[str, str]]:
    """Return how many nodes each plugin and reason alone keeps from a pod.

    An attempt stops at the first plugin that rejects a node. Here every Filter plugin
    judges every node, so that a reason counts only where it is the only obstacle.
    Nothing is counted if PreFilter rejects the pod.

    Args:
        algorithm: The plugins of the pod's profile.
        pod: The pod.
    """
    nodes = algorithm.nodes
    attempt = Attempt.begin(CycleState(), pod, nodes)
    outcome = algorithm.pre_filter.run(attempt)
    if outcome.status is not None:
        return Counter()
    rows = attempt.rows
    if outcome.node_names is not None:
        rows = restricted_rows(attempt, outcome)
    numbers = nodes.row_numbers(rows)
    verdicts = list(_verdicts(algorithm, attempt, numbers))
    if not verdicts:
        return Counter()
    obstacles = np.bincount(
        np.concatenate([rejected for _, rejected in verdicts]), minlength=len(nodes)
    )
    reasons: Counter[tuple[str, str]] = Counter()
    for own, rejected in verdicts:
        for name in nodes.names_at(rejected[obstacles[rejected] == 1]):
            status = own.diagnosis[name]
            if len(status.reasons) == 1:
                reasons[status.plugin, status.reasons[0]] += 1
    return reasons


def _verdicts(
    algorithm: Algorithm, attempt: Attempt, rows: RowArray
) -> Iterator[tuple[Attempt, RowArray]]:
    """Yield each plugin's attempt, with its rejections, and the rejected rows."""
    nodes = attempt.nodes
    for plugin in algorithm.filter.plugins:
        own = Attempt.begin(attempt.state, attempt.pod, nodes)
        passed = algorithm.filter.run_on_rows(own, rows, among=(plugin,))
        if not isinstance(passed, Status):
            yield own, np.setdiff1d(rows, nodes.row_numbers(passed))
