"""The nodes of a request, as rows of the node table."""

from collections.abc import Sequence, Set

import attrs
import numpy as np

from quaymaster._core.state.arrays import BoolArray, Int64Array, RowArray, Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["RequestedNodes"]


@attrs.frozen(eq=False, kw_only=True)
class RequestedNodes:
    """The nodes of a request: those in the node table, and the other names.

    Attributes:
        names: The names in the table, in the order of the request.
        strangers: The other names.
        rows: The rows of the known nodes, ascending.
    """

    names: Sequence[str]
    strangers: Set[str]
    rows: Rows
    _requested: Sequence[str]
    _row_of_each: RowArray
    _capacity: int
    _revision: int

    @classmethod
    def locate(cls, names: Sequence[str], nodes: NodeTable) -> "RequestedNodes":
        """Look up all nodes at once, as there may be thousands.

        Args:
            names: The names of the nodes, perhaps with duplicates.
            nodes: The table.
        """
        known_names, located = names, nodes.rows_in_order(names)
        strangers: Set[str] = frozenset()
        if None in located:
            both = list(zip(names, located, strict=True))
            strangers = {name for name, row in both if row is None}
            known_names = [name for name, row in both if row is not None]
            located = [row for row in located if row is not None]
        row_of_each = np.array(located, dtype=np.intp)
        distinct = _flags(row_of_each, nodes.capacity).nonzero()[0]
        return cls(
            names=known_names,
            strangers=strangers,
            rows=nodes.rows if len(distinct) == len(nodes) else distinct,
            requested=names,
            row_of_each=row_of_each,
            capacity=nodes.capacity,
            revision=nodes.node_changes.revision,
        )

    def stand_for(self, names: Sequence[str], nodes: NodeTable) -> bool:
        """Return whether a lookup of these names would have the same result."""
        # Identity: a repeated list is read as the same object, and comparing all names
        # would take as long as looking them up.
        return (
            names is self._requested and nodes.node_changes.revision == self._revision
        )

    def are_among(self, rows: Rows) -> list[bool]:
        """Return for each name whether its row is one of these."""
        located: list[bool] = _flags(rows, self._capacity)[self._row_of_each].tolist()
        return located

    def by_name(self, values: Int64Array) -> list[int]:
        """Return for each name its value.

        Args:
            values: The value of each of ``rows``.
        """
        by_row: Int64Array = np.zeros(self._capacity, dtype=np.int64)
        by_row[self.rows] = values
        located: list[int] = by_row[self._row_of_each].tolist()
        return located


def _flags(rows: Rows, capacity: int) -> BoolArray:
    flags: BoolArray = np.zeros(capacity, dtype=np.bool_)
    flags[rows] = True
    return flags
