"""Numbers by the value of a node label, looked up for many nodes at once."""

import numpy as np

from quaymaster._core.state.arrays import Int64Array, Rows
from quaymaster._core.state.coded_column import CodedColumn

__all__ = ["LabelTable"]


class LabelTable:
    """A number for each value of one node label.

    Args:
        missing: The number of values without one, and of nodes without the label.
    """

    __slots__ = ("_by_value", "_column", "_filled", "_missing", "_table")

    def __init__(self, missing: int) -> None:
        self._missing = missing
        self._by_value: dict[str, int] = {}
        # By code of the label's column; the last place is for nodes without the label.
        self._table: Int64Array = np.full(1, missing, dtype=np.int64)
        self._column: CodedColumn[str] | None = None
        self._filled = 0

    def __getitem__(self, value: str) -> int:
        return self._by_value.get(value, self._missing)

    def __setitem__(self, value: str, number: int) -> None:
        if number == self._missing:
            self._by_value.pop(value, None)
        else:
            self._by_value[value] = number
        code = -1 if self._column is None else self._column.code(value)
        # Values beyond have their number filled in when rows are read.
        if 0 <= code < self._filled:
            self._table[code] = number

    def rows(self, column: CodedColumn[str], rows: Rows) -> Int64Array:
        """Look the numbers of nodes up, shape ``(N,)``.

        Args:
            column: The label's values, by row.
            rows: The rows in question.
        """
        # Identity: another column has codes of its own.
        if column is not self._column:
            self._column, self._filled = column, 0
        values = column.values
        if len(values) >= len(self._table):
            grown: Int64Array = np.full(
                2 * len(values) + 1, self._missing, dtype=np.int64
            )
            grown[: self._filled] = self._table[: self._filled]
            self._table = grown
        for code in range(self._filled, len(values)):
            self._table[code] = self[values[code]]
        self._filled = len(values)
        return self._table.take(column.codes[rows])
