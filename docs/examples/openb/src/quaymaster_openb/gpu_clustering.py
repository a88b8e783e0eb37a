"""03-GpuClustering: pods that want as many GPUs go together.

Mirrors ``pkg/simulator/plugin/gpu_clustering_score.go``.
"""

from collections.abc import Hashable, Sequence
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
from quaymaster.columns import PodColumn, constant

from quaymaster_openb.gpus import FULL, MOST, GpuRequest, Gpus

__all__ = ["GpuClusteringScore"]

_ALL: Final = MOST * FULL


class GpuClusteringScore:
    """Prefers nodes with pods of the same tag, and among these the fuller ones.

    The tag of a pod is how many whole GPUs it wants, or that it shares one.

    Args:
        args: None.
        handle: The framework.
    """

    scope = Scope.NODE
    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self._gpus = Gpus.of(handle)
        self._tags = PodColumn(_tag, _tags_on)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return _tag(pod) or 0

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        tag, tags, free = _tag(pod), self._tags.on(node), sum(self._gpus.on(node))
        if tag is None:
            return 0
        score = 25 * (_ALL - free) // _ALL
        if not tags:
            return score + 25
        if not tags & tag:
            return score
        return score + (75 if tags == tag else 50)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        tag, tags = _tag(pod), self._tags.of(nodes)[rows]
        if tag is None:
            return constant(0, len(tags))
        free = self._gpus.left.of(nodes)[rows].sum(axis=1)
        kinds = [tags == 0, tags == tag, tags & tag != 0]
        scores: Int64Array = np.select(kinds, [25, 75, 50], 0)
        scores += 25 * (_ALL - free) // _ALL
        return scores


def _tag(pod: Pod) -> int | None:
    """A bit of its own for each tag; None for CPU pods."""
    wanted = GpuRequest.of(pod)
    if wanted is None:
        return None
    return 1 if wanted.is_shared else 1 << min(wanted.count, MOST)


def _tags_on(_node: NodeInfo, tags: Sequence[int]) -> int:
    found = 0
    for tag in tags:
        found |= tag
    return found
