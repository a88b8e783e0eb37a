"""05-BestFit: prefers the node that has least left once the pod is there.

Mirrors ``pkg/simulator/plugin/best_fit_score.go``.
"""

from collections.abc import Hashable

import numpy as np
from quaymaster import (
    MAX_NODE_SCORE,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.columns import CPU

from quaymaster_openb.dot_product import MAX_CPU, MAX_GPU
from quaymaster_openb.gpus import Gpus
from quaymaster_openb.wishes import Wish

__all__ = ["BestFitScore"]


class BestFitScore:
    """Scores by what is left of CPU and GPUs, each as a share of the largest node.

    Args:
        args: None.
        handle: The framework.
    """

    scope = Scope.NODE
    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self._gpus = Gpus.of(handle)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        wish = Wish.of(pod)
        return wish.cpu, wish.total

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        wish, free = Wish.of(pod), sum(self._gpus.on(node))
        cpu_left = node.allocatable.milli_cpu - node.requested.milli_cpu
        cpu, gpu = cpu_left - wish.cpu, free - wish.total
        return int((1 - (cpu / MAX_CPU * 0.5 + gpu / MAX_GPU * 0.5)) * 100)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        wish, free = Wish.of(pod), self._gpus.left.of(nodes)[rows].sum(axis=1)
        cpu_left = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        cpu, gpu = cpu_left - wish.cpu, free - wish.total
        left = cpu / MAX_CPU * 0.5 + gpu / MAX_GPU * 0.5
        scores: Int64Array = ((1 - left) * 100).astype(np.int64)
        return scores

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        lowest, highest = int(scores.min()), int(scores.max())
        if lowest == highest:
            return np.zeros(len(scores), dtype=np.int64)
        return (scores - lowest) * MAX_NODE_SCORE // (highest - lowest)
