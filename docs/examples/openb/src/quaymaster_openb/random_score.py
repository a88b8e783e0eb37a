"""01-Random: any node that passes the filters, and any of its GPUs that suffice.

Mirrors ``pkg/simulator/plugin/random_score.go``.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from quaymaster import (
    MAX_NODE_SCORE,
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    StateKey,
    hookimpl,
)

from quaymaster_openb.gpu_share import GpuShare
from quaymaster_openb.gpus import GpuRequest

__all__ = ["RandomGpuShare", "RandomScore"]

_DRAWN: Final = StateKey[int]("RandomScore")
"""The row of the node that was drawn."""


class RandomScore:
    """Gives one node 100, and all others 0.

    Args:
        args: None.
        handle: The framework.
    """

    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self._random = handle.random

    @hookimpl
    def pre_score(self, state: CycleState, nodes: NodeTable, rows: Rows) -> None:
        open_rows = np.arange(nodes.capacity)[rows]
        state[_DRAWN] = int(open_rows[self._random.randrange(len(open_rows))])

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return MAX_NODE_SCORE if node.row == state[_DRAWN] else 0

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        is_drawn = np.arange(nodes.capacity)[rows] == state[_DRAWN]
        scores: Int64Array = is_drawn.astype(np.int64) * MAX_NODE_SCORE
        return scores


class RandomGpuShare(GpuShare):
    """Gives a pod that shares a GPU any that suffices."""

    def choose(
        self, pod: Pod, wanted: GpuRequest, node: NodeInfo, left: Sequence[int]
    ) -> Sequence[int]:
        """Draw a GPU; whole ones are the first that are free."""
        suiting = [gpu for gpu, rest in enumerate(left) if rest >= wanted.milli]
        if wanted.is_shared and suiting:
            return [self.handle.random.choice(suiting)]
        return suiting[: wanted.count]
