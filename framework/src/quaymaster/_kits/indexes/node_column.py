"""A column that a plugin computes from the node objects."""

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from quaymaster._api.objects import Node
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["NodeColumn"]

V = TypeVar("V")


class NodeColumn(Generic[V]):
    """A column made of the node objects, such as a number in an annotation.

    A function reads the value of a node. It is called once for a node, and again when
    the object has changed, but not when the pods on the node change. So parsing an
    annotation costs nothing in most attempts.

    Labels and taints have columns already: `NodeTable.label`, `NodeTable.taints`.

    Args:
        read: Returns the value of a node. It must depend only on the node and on the
            plugin's arguments, and must accept every node.
        dtype: The type of the column's values, such as ``float``; by default any
            object.
    """

    def __init__(self, read: Callable[[Node], V], *, dtype: DTypeLike = object) -> None:
        self._read = read
        # Row -> the node as it was read, and its value.
        self._values: dict[int, tuple[Node, V]] = {}
        self._array: NDArray[Any] = np.zeros(0, dtype)
        self._log: ChangeLog[int] | None = None
        self._revision = -1

    def of(self, nodes: NodeTable) -> NDArray[Any]:
        """Return the column, up to date, to be indexed with rows, as others are.

        Args:
            nodes: The snapshot's table, as twins are given it, or a trial table.

        Returns:
            Shape ``(C,)``, of the column's dtype; a row without a node has any value.
            It must not be written to, and later calls write to the same memory.
        """
        changed = self._changed(nodes)
        if changed:
            if len(self._array) != nodes.capacity:
                self._resize(nodes.capacity)
            for row in changed:
                node = nodes.infos[row]
                if node is not None:
                    self._array[row] = self.on(node)
        # Last: if the function fails, its row is read again the next time.
        self._log, self._revision = nodes.node_changes, nodes.node_changes.revision
        return self._array

    def on(self, node: NodeInfo) -> V:
        """Return the value of one node."""
        cached = self._values.get(node.row)
        # Identity: a node that has changed is another object.
        if cached is not None and cached[0] is node.node:
            return cached[1]
        value = self._read(node.node)
        self._values[node.row] = (node.node, value)
        return value

    def _changed(self, nodes: NodeTable) -> Collection[int]:
        """Return the rows whose nodes have changed; all rows for another table."""
        log = nodes.node_changes
        rows: Collection[int] | None = None
        # Identity: a table and its trial copies share one log; other tables do not.
        if log is self._log:
            if log.revision == self._revision:
                return ()
            rows = log.since(self._revision)
        return range(len(nodes.infos)) if rows is None else rows

    def _resize(self, capacity: int) -> None:
        resized = np.zeros(capacity, self._array.dtype)
        kept = min(capacity, len(self._array))
        resized[:kept] = self._array[:kept]
        self._array = resized
