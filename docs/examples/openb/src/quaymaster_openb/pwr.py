"""07-PWR: the node whose power grows least.

Mirrors ``pkg/simulator/plugin/pwr_score.go`` of the simulator of "Power- and
Fragmentation-aware Online Scheduling for GPU Datacenters" (CCGrid 2025).
"""

from collections.abc import Hashable, Sequence
from typing import Final

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

from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.gpus import FULL, MODEL, GpuRequest, Gpus
from quaymaster_openb.power import CPU_GROWTH, active_cpus, gpu_growth
from quaymaster_openb.wishes import Wish

__all__ = ["PWRGpuShare", "PWRScore"]

_NONE: Final = np.int64(FULL + 1)
"""In the place of a GPU that does not suffice: behind all others."""


class PWRScore:
    """Scores by the watts that a node takes more with the pod, as a negative number.

    A GPU takes full power with its first pod, and a CPU with the first of its cores.

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
        return wish.cpu, wish.count, wish.milli

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        wish, capacity = Wish.of(pod), node.allocatable.milli_cpu
        left = capacity - node.requested.milli_cpu
        cpus = active_cpus(capacity, left - wish.cpu) - active_cpus(capacity, left)
        suiting = [rest for rest in self._gpus.on(node) if rest >= wish.milli]
        woken = sorted(suiting)[: wish.count].count(FULL)
        return -(cpus * CPU_GROWTH + woken * gpu_growth(node.labels.get(MODEL)))

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        wish, gpus = Wish.of(pod), self._gpus.left.of(nodes)[rows]
        capacity = nodes.allocatable[CPU, rows]
        left = capacity - nodes.requested[CPU, rows]
        cpus = _active(capacity, left - wish.cpu) - _active(capacity, left)
        suiting = np.sort(np.where(gpus >= wish.milli, gpus, _NONE), axis=1)
        woken = (suiting[:, : wish.count] == FULL).sum(axis=1)
        growth = nodes.label(MODEL).map(gpu_growth, rows)
        scores: Int64Array = -(cpus * CPU_GROWTH + woken * growth)
        return scores

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        lowest, highest = int(scores.min()), int(scores.max())
        if lowest == highest:
            return np.full(len(scores), MAX_NODE_SCORE, dtype=np.int64)
        return (scores - lowest) * MAX_NODE_SCORE // (highest - lowest)


class PWRGpuShare(GpuShare):
    """Gives a pod that shares a GPU the first one in use that suffices."""

    def choose(
        self, pod: Pod, wanted: GpuRequest, node: NodeInfo, left: Sequence[int]
    ) -> Sequence[int]:
        """Choose the first GPU whose power grows least; whole ones as always."""
        if not wanted.is_shared:
            return super().choose(pod, wanted, node, left)
        suiting = [gpu for gpu, rest in enumerate(left) if rest >= wanted.milli]
        return sorted(suiting, key=lambda gpu: left[gpu] == FULL)[:1]


def _active(capacity: Int64Array, left: Int64Array) -> Int64Array:
    """Return how many CPUs are in use, as `active_cpus` does for one node."""
    return active_cpus(capacity, left)  # type: ignore[arg-type,return-value]  # same arithmetic for columns
