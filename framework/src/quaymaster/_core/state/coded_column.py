"""A column of few distinct values."""

from collections.abc import Callable, Collection, Iterable
from typing import Final, Generic, TypeVar

import numpy as np

from quaymaster._core.state.arrays import BoolArray, Int32Array, Int64Array, Rows

__all__ = ["CodedColumn"]

V = TypeVar("V")

_FEW: Final = 16
"""Finding which values occur takes as long as looking at so many."""


class CodedColumn(Generic[V]):
    """A column of few distinct values, stored as small integers.

    Attributes:
        codes: Shape ``(capacity,)``, dtype int32: an index into ``values``, -1 where
            the node has no value.
        values: The distinct values, in the order of their arrival. A value that no
            node has now keeps its code.
    """

    __slots__ = ("_code_of", "codes", "values")

    def __init__(self, capacity: int) -> None:
        self.codes: Int32Array = np.full(capacity, -1, dtype=np.int32)
        self.values: list[V] = []
        self._code_of: dict[V, int] = {}

    def code(self, value: V) -> int:
        """Return the code of a value; -2, which no row has, for an unknown value."""
        return self._code_of.get(value, -2)

    def set(self, row: int, value: V | None) -> None:
        """Write one row."""
        if value is None:
            self.codes[row] = -1
            return
        # Values that no row has any longer keep their code: codes are part of cached
        # arrays and of compiled selectors.
        code = self._code_of.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        self.codes[row] = code

    def test(self, predicate: Callable[[V | None], bool], rows: Rows) -> BoolArray:
        """Test each distinct value of some rows once, and return the results by row.

        Args:
            predicate: Called once per distinct value, with None for rows without.
            rows: The rows of the result.

        Returns:
            Shape ``(N,)``, dtype bool, in the order of ``rows``.
        """
        codes = self.codes[rows]
        # One more element than values: the code -1 of rows without a value selects the
        # last one.
        table: BoolArray = np.zeros(len(self.values) + 1, dtype=np.bool_)
        for code in self._present(codes):
            table[code] = predicate(self._value(code))
        answers: BoolArray = table.take(codes)
        return answers

    def map(self, function: Callable[[V | None], int], rows: Rows) -> Int64Array:
        """Return an integer for each row; the function is called as in `test`."""
        codes = self.codes[rows]
        table: Int64Array = np.zeros(len(self.values) + 1, dtype=np.int64)
        for code in self._present(codes):
            table[code] = function(self._value(code))
        answers: Int64Array = table.take(codes)
        return answers

    def _present(self, codes: Int32Array) -> Iterable[int]:
        """Return the codes that occur, and -1 if some rows have no value.

        Values are never forgotten. An autoscaler writes taints with a time, so that a
        day leaves thousands of values that no node has: to look at all of them for each
        pod would take longer than everything else.
        """
        if len(self.values) <= _FEW:
            return range(-1, len(self.values))
        occurs: BoolArray = np.zeros(len(self.values) + 1, dtype=np.bool_)
        occurs[codes] = True
        present: list[int] = np.flatnonzero(occurs).tolist()
        if present and present[-1] == len(self.values):
            present[-1] = -1
        return present

    def _value(self, code: int) -> V | None:
        return self.values[code] if code >= 0 else None

    def is_in(self, values: Collection[V], rows: Rows) -> BoolArray:
        """Return whether each row has one of some values."""
        codes = self.codes[rows]
        targets = [code for value in values if (code := self.code(value)) >= 0]
        if len(targets) == 1:
            equal: BoolArray = codes == targets[0]
            return equal
        answers: BoolArray = np.zeros(len(self.values) + 1, dtype=np.bool_)
        answers[targets] = True
        return answers.take(codes)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        grown = np.full(capacity, -1, dtype=np.int32)
        grown[: len(self.codes)] = self.codes
        self.codes = grown
