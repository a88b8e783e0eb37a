"""Nodes that some question cannot tell apart."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from quaymaster import NodeTable
from quaymaster.arrays import Int64Array, Rows

__all__ = ["group_rows"]


def group_rows(
    nodes: NodeTable,
    rows: Rows,
    label_keys: Iterable[str],
    marks: Sequence[Hashable] | None = None,
) -> tuple[Int64Array, Int64Array]:
    """Sort nodes into groups with equal values of some labels.

    Args:
        nodes: The nodes.
        rows: The rows in question; at least one.
        label_keys: The labels that matter.
        marks: What matters besides, one value per row.

    Returns:
        The position, among the rows, of one node of each group; and the group of each
        row, shape ``(N,)``.
    """
    groups: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
    if marks is not None:
        numbers = {mark: number for number, mark in enumerate(dict.fromkeys(marks))}
        groups = np.array([numbers[mark] for mark in marks], dtype=np.int64)
    for key in label_keys:
        column = nodes.label(key)
        combined = groups * (len(column.values) + 1) + column.codes[rows] + 1
        # Small numbers again, so that the next label cannot overflow them.
        groups = np.unique(combined, return_inverse=True)[1].astype(np.int64)
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.astype(np.int64)
