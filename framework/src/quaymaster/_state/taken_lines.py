"""Some nodes' part of columns, taken once for all plugins that ask for it in a row."""

from typing import TypeVar

from quaymaster._state.arrays import Float64Array, Int64Array, RowArray, Rows

__all__ = ["TakenLines", "lines_at"]

LinesT = TypeVar("LinesT", Int64Array, Float64Array)


def lines_at(lines: LinesT, rows: Rows) -> LinesT:
    """Return some nodes' part of an array of lines, shape ``(K, N)``, or of one line.

    Args:
        lines: Shape ``(K, C)``, as the resource columns of a `NodeTable` are; or
            ``(C,)``, then what is returned has shape ``(N,)``.
        rows: The rows of the nodes.

    Returns:
        Do not write to it: for all rows it is a view.
    """
    # To index with rows takes five times as long here as to take them.
    if isinstance(rows, slice):
        return lines[..., rows]
    return lines.take(rows, axis=-1)


class TakenLines:
    """Remembers what was taken of a table's columns for the rows that came last.

    Filters and scores look at the same rows one after the other, those of nodes that
    have changed: to take two lines of a thousand rows takes longer than to add them.
    """

    __slots__ = ("_revision", "_rows", "_taken")

    def __init__(self) -> None:
        self._revision = -1
        self._rows: RowArray | None = None
        # Name of a column -> the lines that were taken last, and what was taken.
        self._taken: dict[str, tuple[slice, Int64Array]] = {}

    def of(
        self, name: str, column: Int64Array, lines: slice, rows: RowArray, revision: int
    ) -> Int64Array:
        """Return some nodes' part of some lines; see `lines_at`.

        Args:
            name: The name of the column.
            column: Shape ``(R, C)``.
            lines: Which lines.
            rows: The rows of the nodes; never written to.
            revision: That of the table's changes.
        """
        # Identity: who was given the same rows mostly has the same object.
        if rows is not self._rows or revision != self._revision:
            self._rows, self._revision = rows, revision
            self._taken.clear()
        known = self._taken.get(name)
        if known is not None and known[0] == lines:
            return known[1]
        taken = column[lines].take(rows, axis=-1)
        self._taken[name] = lines, taken
        return taken
