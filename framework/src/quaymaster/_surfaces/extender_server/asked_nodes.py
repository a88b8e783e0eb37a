"""The nodes that a request asks about, as rows of the node table."""

from collections.abc import Sequence, Set

import attrs
import numpy as np

from quaymaster._core.state.arrays import BoolArray, Int64Array, RowArray, Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["AskedNodes"]


@attrs.frozen(eq=False, kw_only=True)
class AskedNodes:
    """The nodes of a request: those that are known, and the names that are not.

    Attributes:
        names: The known names, in the order of the request.
        strangers: The unknown names.
        rows: The rows of the known nodes, ascending.
    """

    names: Sequence[str]
    strangers: Set[str]
    rows: Rows
    _asked: Sequence[str]
    _row_of_each: RowArray
    _capacity: int
    _revision: int

    @classmethod
    def locate(cls, names: Sequence[str], nodes: NodeTable) -> "AskedNodes":
        """Look up all nodes at once, as there may be thousands.

        Args:
            names: The names of the nodes; a name may come twice.
            nodes: The table.
        """
        known, found = names, nodes.rows_in_order(names)
        strangers: Set[str] = frozenset()
        if None in found:
            both = list(zip(names, found, strict=True))
            strangers = {name for name, row in both if row is None}
            known = [name for name, row in both if row is not None]
            found = [row for row in found if row is not None]
        row_of_each = np.array(found, dtype=np.intp)
        distinct = _flags(row_of_each, nodes.capacity).nonzero()[0]
        return cls(
            names=known,
            strangers=strangers,
            rows=nodes.rows if len(distinct) == len(nodes) else distinct,
            asked=names,
            row_of_each=row_of_each,
            capacity=nodes.capacity,
            revision=nodes.node_changes.revision,
        )

    def stand_for(self, names: Sequence[str], nodes: NodeTable) -> bool:
        """Whether these names, looked up now, would be found where they were."""
        # Identity: a list that comes again is read as the same object, and to compare
        # all names would take as long as to look them up.
        return names is self._asked and nodes.node_changes.revision == self._revision

    def are_among(self, rows: Rows) -> list[bool]:
        """Return for each name whether its row is one of these."""
        found: list[bool] = _flags(rows, self._capacity)[self._row_of_each].tolist()
        return found

    def by_name(self, values: Int64Array) -> list[int]:
        """Return for each name its value.

        Args:
            values: The value of each of ``rows``.
        """
        by_row: Int64Array = np.zeros(self._capacity, dtype=np.int64)
        by_row[self.rows] = values
        found: list[int] = by_row[self._row_of_each].tolist()
        return found


def _flags(rows: Rows, capacity: int) -> BoolArray:
    flags: BoolArray = np.zeros(capacity, dtype=np.bool_)
    flags[rows] = True
    return flags
