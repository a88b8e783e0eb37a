"""01-Random: any node that passes the filters, and any of its GPUs that suffice.

Mirrors ``pkg/simulator/plugin/random_score.go``.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Final

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
    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "staleness": "each instance has a salt, so another one draws other nodes"
    }

    def __init__(self, args: None, handle: Handle) -> None:
        self._salt = handle.random.getrandbits(64)

    @hookimpl
    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> None:
        open_rows = nodes.row_numbers(rows)
        place = _draw(self._salt, pod).randrange(len(open_rows))
        state[_DRAWN] = int(open_rows[place])

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return MAX_NODE_SCORE if node.row == state[_DRAWN] else 0

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        is_drawn = nodes.row_numbers(rows) == state[_DRAWN]
        scores: Int64Array = is_drawn.astype(np.int64) * MAX_NODE_SCORE
        return scores


class RandomGpuShare(GpuShare):
    """Gives a pod that shares a GPU any that suffices."""

    contract_opt_outs: ClassVar[Mapping[str, str]] = {
        "restarts": "each instance has a salt, so another one draws other GPUs",
        "staleness": "each instance has a salt, so another one draws other GPUs",
    }

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._salt = handle.random.getrandbits(64)

    def choose(
        self, pod: Pod, wanted: GpuRequest, node: NodeInfo, left: Sequence[int]
    ) -> Sequence[int]:
        """Draw a GPU; whole ones are the first that are free."""
        suiting = [gpu for gpu, rest in enumerate(left) if rest >= wanted.milli]
        if wanted.is_shared and suiting:
            return [_draw(self._salt, pod).choice(suiting)]
        return suiting[: wanted.count]


def _draw(salt: int, pod: Pod) -> Random:
    """Return a generator for one pod, which repeats its draws, as `--verify` needs."""
    return Random(f"{salt}/{pod.uid}")
