"""04-GpuPacking: GPUs in use before free ones, nodes in use before free ones.

Mirrors ``pkg/simulator/plugin/gpu_packing_score.go``.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np
from quaymaster import (
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.columns import constant

from quaymaster_openb.gpus import COUNT, FULL, GpuRequest, Gpus, count_of

__all__ = ["GpuPackingScore"]

_NONE: Final = np.int64(FULL + 1)
"""In the place of a GPU that does not suffice: behind all others."""


class GpuPackingScore:
    """Prefers nodes where the pod needs no free GPU, then such as are in use.

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
        wanted = GpuRequest.of(pod)
        return (wanted.count, wanted.milli) if wanted else ()

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        wanted, left = GpuRequest.of(pod), self._gpus.on(node)
        if wanted is None:
            return 0
        empty = left.count(FULL)
        if empty == len(left):
            return max(33 - empty, empty)
        taken = sorted(rest for rest in left if rest >= wanted.milli)[: wanted.count]
        used_up = taken.count(FULL)
        if used_up:
            return max(50 - used_up, 33)
        return max(100 - sum(rest * 100 // FULL for rest in taken) // 10, 50)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        wanted, left = GpuRequest.of(pod), self._gpus.left.of(nodes)[rows]
        if wanted is None:
            return constant(0, len(left))
        gpus = nodes.label(COUNT).map(count_of, rows)
        empty = (left == FULL).sum(axis=1)
        taken = np.sort(np.where(left >= wanted.milli, left, _NONE), axis=1)
        taken = taken[:, : wanted.count]
        used_up = (taken == FULL).sum(axis=1)
        percents = np.where(taken == _NONE, 0, taken * 100 // FULL).sum(axis=1)
        return np.select(
            [empty == gpus, used_up > 0],
            [np.maximum(33 - empty, empty), np.maximum(50 - used_up, 33)],
            np.maximum(100 - percents // 10, 50),
        )
