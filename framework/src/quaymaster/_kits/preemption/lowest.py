"""The lowest priority among the pods of each node, kept up to date."""

import numpy as np

from quaymaster._core.state.arrays import Int64Array, RowArray
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.columns import NOBODY

__all__ = ["LowestPriorities"]


class LowestPriorities:
    """Finds out whether any pod on some nodes has a lower priority than a pod."""

    def __init__(self) -> None:
        self._revision = -1
        self._lowest: Int64Array = np.empty(0, dtype=np.int64)
        self._least: int = NOBODY

    def are_any_below(self, nodes: NodeTable, rows: RowArray, priority: int) -> bool:
        """Return whether any of some nodes has a pod of lower priority.

        Args:
            nodes: The snapshot's table.
            rows: The rows of the nodes.
            priority: The priority to compare with.
        """
        if self._revision != nodes.changes.revision or self._is_other_size(nodes):
            self._catch_up(nodes)
        # Where all pods have one priority, no row has to be looked at.
        if self._least >= priority:
            return False
        return bool((self._lowest[rows] < priority).any())

    def _is_other_size(self, nodes: NodeTable) -> bool:
        return len(self._lowest) != nodes.capacity

    def _catch_up(self, nodes: NodeTable) -> None:
        """Read the nodes that have changed since the last attempt."""
        is_other_size = self._is_other_size(nodes)
        changed = None if is_other_size else nodes.changes.since(self._revision)
        has_changed = changed is None
        if changed is None:
            self._lowest = np.full(nodes.capacity, NOBODY, dtype=np.int64)
            changed = range(len(nodes.infos))
        self._revision = nodes.changes.revision
        for row in changed:
            info = nodes.infos[row]
            # The node counts its priorities from the first call on: before, the pods of
            # a node were looked through for each attempt, also if there were thousands.
            lowest = None if info is None else info.lowest_priority
            if lowest is None:
                lowest = NOBODY
            if self._lowest[row] != lowest:
                self._lowest[row] = lowest
                has_changed = True
        # Most changes leave the lowest priority of their node.
        if has_changed:
            self._least = int(self._lowest.min(initial=NOBODY))
