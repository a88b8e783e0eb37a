"""A column that a plugin computes from the pods on each node."""

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

    Two functions define a row: one reads a value from a pod, the other computes the row
    from the values of all pods on the node. The column follows the nodes and their pods
    itself: pods that are assumed, bound, changed, moved, forgotten and deleted. A row
    is computed again from all pods of its node when one of them or the node has
    changed. So it equals a recount, after any history and after a restart. A pod is
    read once, and again when it has changed.

    Both functions must depend only on their arguments and on the plugin's arguments,
    and must accept every pod and node.

    Args:
        read: Returns the value of a pod, or None.
        make_row: Returns a node's row, from the node and the values of its pods, in
            the order of their arrival, without None.
        width: The maximum number of numbers in a row; None for a single number.
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
        # Row -> uid -> the pod as it was read, and its value.
        self._values_at: dict[int, dict[str, tuple[Pod, V | None]]] = {}
        # Row -> the generation of the node, and its row. In a run of
        # docs/examples/openb, 37,000 of 63,000 rows come from this cache.
        self._rows: dict[int, tuple[int, RowT]] = {}
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
            ValueError: It is a trial table, which has only the sums of its pods. A
                plugin whose class declares `PodUse.PODS`, or nothing, gets no such
                table.
            ValueError: A row has too many numbers.
            TypeError: A row has numbers that are not integers.
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
        made = self._rows.get(node.row)
        if made is not None and made[0] == node.generation:
            return made[1]
        values = self._values(node).values()
        row = self._make_row(node, [value for _, value in values if value is not None])
        self._rows[node.row] = (node.generation, row)
        return row

    def _values(self, node: NodeInfo) -> dict[str, tuple[Pod, V | None]]:
        """Read the new and changed pods of a node."""
        cached, read = self._values_at.get(node.row, {}), self._read
        values = {}
        for uid, pod in node.pods.items():
            value = cached.get(uid)
            # Identity: a pod that has changed is another object.
            values[uid] = (
                (pod, read(pod)) if value is None or value[0] is not pod else value
            )
        return values

    def _write(self, row: int, node: NodeInfo | None) -> None:
        if node is None:
            self._values_at.pop(row, None)
            self._rows.pop(row, None)
            self._array[row] = 0
            return
        self._values_at[row] = self._values(node)
        value: int | Sequence[int] = self.on(node)
        if self._width is None:
            self._array[row] = _whole(value, node)
            return
        numbers = [_whole(number, node) for number in _several(value, node)]
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
