"""Score nodes by a user-defined function of their utilization.

Mirrors ``requested_to_capacity_ratio.go`` and ``BuildBrokenLinearFunction``
(kube-scheduler 1.36.2, ``pkg/scheduler/framework/plugins/noderesources`` and
``helper``).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster import MAX_NODE_SCORE, Int64Array, NodeInfo
from quaymaster.columns import Float64Array, Int32Array
from quaymaster_node_resources_fit.args import UtilizationShapePoint
from quaymaster_node_resources_fit.shares import Demands, ShareColumns, shares_of

__all__ = ["RequestedToCapacityRatio"]

_MAX_UTILIZATION: Final = 100
_SCALE: Final = MAX_NODE_SCORE // 10  # scores of shape points range from 0 to 10


class RequestedToCapacityRatio:
    """Scores each resource with a piecewise linear function of its utilization.

    Resources with score 0 are left out of the mean, which is rounded.

    Args:
        shape: The points of the function, by rising utilization.
    """

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        self._line = [_value(shape, at) for at in range(_MAX_UTILIZATION + 1)]
        self._values: Int32Array = np.array(self._line, dtype=np.int32)
        self._counts: Int32Array = (self._values > 0).astype(np.int32)

    def score(self, node: NodeInfo, demands: Demands) -> int:
        """Return the mean of the function's values for one node."""
        total = weights = 0
        for weight, used, capacity in shares_of(node, demands):
            value = self._line[used * _MAX_UTILIZATION // capacity]
            # A resource whose function is 0 there does not count in the weights either
            # (requested_to_capacity_ratio.go), so that the mean is that of the others.
            if value > 0:
                total += value * weight
                weights += weight
        # ``math.Round`` of a mean that is not negative, in integers.
        return (2 * total + weights) // (2 * weights) if weights else 0

    def score_nodes(self, shares: ShareColumns) -> Int64Array:
        """Return the scores of many nodes."""
        utilization, weights = shares.percent_used(), shares.weights()
        total = (weights * self._values.take(utilization)).sum(axis=0)
        weight = (weights * self._counts.take(utilization)).sum(axis=0)
        # Integers this small divide exactly enough for a correct floor.
        means: Float64Array = (2 * total + weight) / np.maximum(2 * weight, 1)
        return means.astype(np.int64)


def _value(shape: Sequence[UtilizationShapePoint], utilization: int) -> int:
    """Return the function's value, which is constant outside the points."""
    before = shape[0]
    for corner in shape:
        if utilization <= corner.utilization:
            return _between(before, corner, utilization)
        before = corner
    return before.score * _SCALE


def _between(
    left: UtilizationShapePoint, right: UtilizationShapePoint, utilization: int
) -> int:
    run = right.utilization - left.utilization
    if not run:  # up to the first point
        return right.score * _SCALE
    rise = (right.score - left.score) * _SCALE * (utilization - left.utilization)
    # Go truncates, Python floors: they differ where the function falls.
    step = rise // run if rise >= 0 else -(-rise // run)
    return left.score * _SCALE + step
