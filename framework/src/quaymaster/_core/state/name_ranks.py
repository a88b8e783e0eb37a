"""The rank of each node in the order of names, as a column."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["NameRanks"]


class NameRanks:
    """Ranks the names of nodes, and updates the ranks when nodes are added or removed.

    Names are sorted once; an added or removed node shifts the ranks after its own. The
    rank of a free row is undefined.

    Args:
        infos: The `NodeInfo` of each row; None where a row is free.
        capacity: The number of rows that there is room for.

    Attributes:
        column: Shape ``(C,)``, dtype int64: the number of nodes with a smaller name. Of
            two nodes with the same name, the lower row comes first.
    """

    def __init__(self, infos: Sequence[NodeInfo | None], capacity: int) -> None:
        named = [(info.name, row) for row, info in enumerate(infos) if info is not None]
        named.sort()
        self._names = [name for name, _ in named]
        self.column: Int64Array = np.zeros(capacity, dtype=np.int64)
        self.column[[row for _, row in named]] = np.arange(len(named))

    def came(self, row: int, name: str) -> None:
        """Add a node to the order."""
        # Shifting the ranks takes two passes over arrays; sorting all names again for
        # each node that an autoscaler adds would compare texts.
        rank = bisect_left(self._names, name)
        self._names.insert(rank, name)
        self.column[self.column >= rank] += 1
        self.column[row] = rank

    def went(self, name: str) -> None:
        """Remove a node from the order."""
        rank = bisect_left(self._names, name)
        del self._names[rank]
        self.column[self.column > rank] -= 1

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.column = np.pad(self.column, (0, capacity - len(self.column)))
