"""A column of what a plugin knows of the pods on each node."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Generic, TypeVar

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.row_reader import RowReader

__all__ = ["PodColumn"]

V = TypeVar("V")
RowT = TypeVar("RowT", bound=int | Sequence[int])


class PodColumn(Generic[V, RowT]):
    """A column made of the pods on each node, such as what is left of its devices.

    Two functions say what a row is: one reads a pod, the other makes the row of what
    was read of all pods on the node. The column follows the nodes and their pods by
    itself: pods that are assumed, bound, changed, moved, forgotten and deleted. A row
    is made anew from all pods of its node when one of them or the node has changed, so
    it is what a recount gives, after any history, and after a restart. A pod is read
    once, and again when it has changed.

    Both functions depend on nothing but their arguments and the plugin's own, and
    answer for every pod and node there may be, odd ones included.

    Args:
        read: Returns what is to be known of a pod; None for nothing.
        make_row: Returns a node's row, from the node and from what was read of its
            pods, in the order of their arrival, without None.
        width: How many numbers a row has at most; None for a single one.
    """

    def __init__(
        self,
        read: Callable[[Pod], V | None],
        make_row: Callable[[NodeInfo, Sequence[V]], RowT],
        *,
        width: int | None = None,
    ) -> None:
        self._read = read
        self._make_row = make_row
        self._width = width
        self._reader = RowReader()
        # Row -> uid -> the pod as it was read, and what was read.
        self._known: dict[int, dict[str, tuple[Pod, V | None]]] = {}
        # Row -> the generation of the node that its row was made of, and that row. Of
        # 63,000 rows that a run of docs/examples/openb asks for 37,000 were known.
        self._made: dict[int, tuple[int, RowT]] = {}
        self._array: Int64Array = self._zeros(0)

    def of(self, nodes: NodeTable) -> Int64Array:
        """Return the column, up to date, to be indexed with rows, as others are.

        Args:
            nodes: The snapshot's table, as twins are given it.

        Returns:
            Shape ``(C,)``, or ``(C, width)``, dtype int64: the row of each node, filled
            up with 0 to the width; 0 where there is no node. It must not be written to,
            and later calls write to the same memory.

        Raises:
            ValueError: The table is imagined: its pods are known by their sums only. A
                plugin whose class says `PodUse.PODS`, or nothing, gets no such table.
            ValueError: A row has too many numbers.
            TypeError: A row is not made of whole numbers.
        """
        if nodes.is_imagined:
            raise ValueError(
                "a PodColumn knows no imagined pods: a plugin that uses one in its "
                "filter looks at single pods, and says so by pod_use = PodUse.PODS"
            )
        try:
            changed = self._reader.changed(nodes)
            if changed:
                if len(self._array) != nodes.capacity:
                    self._resize(nodes.capacity)
                for row in changed:
                    self._write(row, nodes.infos[row])
        except BaseException:
            self._reader = RowReader()  # what has not been written is written next time
            raise
        return self._array

    def on(self, node: NodeInfo) -> RowT:
        """Return the row of one node, as it is now; it must not be written to.

        It is made of the pods that the node has at this moment. So it is right for a
        copy, too, on which preemption imagines pods away, or which nominated pods have
        been put on: these are read like any other, before anything was reserved.
        """
        made = self._made.get(node.row)
        if made is not None and made[0] == node.generation:
            return made[1]
        values = self._values(node).values()
        row = self._make_row(node, [value for _, value in values if value is not None])
        self._made[node.row] = (node.generation, row)
        return row

    def _values(self, node: NodeInfo) -> dict[str, tuple[Pod, V | None]]:
        """Read the pods of a node, as far as they have not been read before."""
        known, read = self._known.get(node.row, {}), self._read
        found = {}
        for uid, pod in node.pods.items():
            value = known.get(uid)
            # Identity: a pod that has changed is another object.
            found[uid] = (
                (pod, read(pod)) if value is None or value[0] is not pod else value
            )
        return found

    def _write(self, row: int, node: NodeInfo | None) -> None:
        if node is None:
            self._known.pop(row, None)
            self._made.pop(row, None)
            self._array[row] = 0
            return
        self._known[row] = self._values(node)
        made: int | Sequence[int] = self.on(node)
        if self._width is None:
            self._array[row] = _whole(made, node)
            return
        numbers = [_whole(number, node) for number in _several(made, node)]
        if len(numbers) > self._width:
            raise ValueError(
                f"the row of node {node.name!r} has {len(numbers)} numbers, expected "
                f"at most {self._width}"
            )
        self._array[row] = numbers + [0] * (self._width - len(numbers))

    def _resize(self, capacity: int) -> None:
        resized = self._zeros(capacity)
        kept = min(capacity, len(self._array))
        resized[:kept] = self._array[:kept]
        self._array = resized

    def _zeros(self, capacity: int) -> Int64Array:
        shape = (capacity,) if self._width is None else (capacity, self._width)
        return np.zeros(shape, dtype=np.int64)


def _several(made: object, node: NodeInfo) -> Sequence[object]:
    if isinstance(made, Sequence):
        return made
    raise TypeError(
        f"the row of node {node.name!r}: expected a sequence of whole numbers, "
        f"got {made!r}"
    )


def _whole(made: object, node: NodeInfo) -> int:
    if isinstance(made, (int, np.integer)):
        return index(made)
    raise TypeError(
        f"the row of node {node.name!r}: expected a whole number, got {made!r}"
    )
