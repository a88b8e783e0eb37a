"""The lowest priority among the pods of each node, kept up to date."""

import numpy as np

from quaymaster._core.state.arrays import BoolArray, Int64Array, RowArray
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.columns import NOBODY

__all__ = ["LowestPriorities"]


class LowestPriorities:
    """Finds the nodes with any pod of lower priority."""

    def __init__(self) -> None:
        self._revision = -1
        self._lowest: Int64Array = np.empty(0, dtype=np.int64)

    def are_below(self, nodes: NodeTable, rows: RowArray, priority: int) -> BoolArray:
        """Return which of some nodes have a pod of lower priority, shape ``(N,)``.

        Args:
            nodes: The snapshot's table.
            rows: The rows of the nodes.
            priority: The priority to compare with.
        """
        # Only nodes that changed since the last attempt are read: a comparison of one
        # array then says that no pod can be a victim, before anything else is prepared.
        changed = nodes.changes.since(self._revision)
        if changed is None or len(self._lowest) != nodes.capacity:
            self._lowest = np.full(nodes.capacity, NOBODY, dtype=np.int64)
            changed = range(len(nodes.infos))
        self._revision = nodes.changes.revision
        for row in changed:
            info = nodes.infos[row]
            # The node counts its priorities from the first call on: before, the pods of
            # a node were looked through for each attempt, also if there were thousands.
            lowest = None if info is None else info.lowest_priority
            self._lowest[row] = NOBODY if lowest is None else lowest
        # Where all pods have one priority, to compare the whole array takes a third of
        # the time of picking the rows.
        if self._lowest.min(initial=NOBODY) >= priority:
            return np.zeros(len(rows), dtype=np.bool_)
        below: BoolArray = self._lowest[rows] < priority
        return below
