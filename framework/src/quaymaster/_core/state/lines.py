"""Some nodes' part of an array of lines."""

from typing import TypeVar

from quaymaster._core.state.arrays import Float64Array, Int64Array, Rows

__all__ = ["lines_at"]

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
