"""Scores nodes by a weighted sum of columns; the weights were learned."""

from collections.abc import Hashable
from typing import Final

import numpy as np
from quaymaster import (
    MAX_NODE_SCORE,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    PodUse,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.columns import Float64Array
from quaymaster.objects import pod_requests

from quaymaster_learned_policy.args import LearnedPolicyArgs
from quaymaster_learned_policy.columns import PolicyColumns

__all__ = ["LearnedPolicy"]

_SCALE: Final = 1_000_000
"""Scores are integers: what is less than a millionth apart is a tie."""


class LearnedPolicy:
    """Prefers the node with the highest weighted sum of columns.

    Args:
        args: The weights.
        handle: The framework.
    """

    Args = LearnedPolicyArgs
    scope = Scope.NODE
    pod_use = PodUse.SUMS
    reads = ()

    def __init__(self, args: LearnedPolicyArgs, handle: Handle) -> None:
        self._weights = args.weights
        self._columns = PolicyColumns()

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        requests = pod_requests(pod)
        return requests.milli_cpu, requests.memory

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        total = 0.0
        for weight, number in zip(
            self._weights, self._columns.of(pod, node), strict=True
        ):
            total += weight * number
        return int(total * _SCALE)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        # One column after the other, so that sums are rounded as in `score`.
        total: Float64Array = np.zeros(nodes.count(rows))
        columns = self._columns.each(pod, nodes, rows)
        for weight, column in zip(self._weights, columns, strict=True):
            total += weight * column
        return (total * _SCALE).astype(np.int64)

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        lowest, highest = int(scores.min()), int(scores.max())
        if lowest == highest:
            return np.zeros(len(scores), dtype=np.int64)
        return (scores - lowest) * MAX_NODE_SCORE // (highest - lowest)
