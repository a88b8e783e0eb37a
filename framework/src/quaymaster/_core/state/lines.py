"""Selects some nodes in an array of lines."""

from typing import TypeVar

from quaymaster._core.state.arrays import Float64Array, Int64Array, Rows

__all__ = ["lines_at"]

LinesT = TypeVar("LinesT", Int64Array, Float64Array)


def lines_at(lines: LinesT, rows: Rows) -> LinesT:
    """Select some nodes in an array of lines, or in one line.

    Args:
        lines: Shape ``(K, C)``, as the resource columns of a `NodeTable` are, or
            ``(C,)``.
        rows: The rows of the nodes.

    Returns:
        Shape ``(K, N)``, or ``(N,)`` for one line. Do not write to it: for all rows it
        is a view.
    """
    # Indexing with rows takes five times as long here as `take`.
    if isinstance(rows, slice):
        return lines[..., rows]
    return lines.take(rows, axis=-1)
