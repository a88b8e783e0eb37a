"""The scores of plugins that do not look at the pods on a node."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.score_call import ScoreCall
from quaymaster._core.memo.filter_memo import FilterMemo
from quaymaster._core.state.arrays import Int64Array, Rows

__all__ = ["ScoreColumn", "StaticScores", "Varying", "fill_columns", "varying"]

Varying: TypeAlias = Sequence[tuple[ScoreCall, Int64Array]]
"""Plugins with their raw scores of all nodes, shape ``(C,)``."""


class StaticScores:
    """Caches the scores of some plugins for every node that passes the static filters.

    All signatures share it in which these plugins and filters signed the same. Scoring
    5,000 nodes is a tenth of the first decision of a signature.

    Args:
        calls: The plugins.
        filters: The static filters.

    Attributes:
        varying: The plugins whose scores differ between nodes, with their raw scores.
    """

    __slots__ = ("__weakref__", "_columns", "_filters", "_revision", "varying")

    def __init__(
        self, calls: Iterable[ScoreCall], filters: Iterable[FilterMemo]
    ) -> None:
        self._columns = [ScoreColumn(call) for call in calls]
        self.varying: Varying = ()
        self._filters = list(filters)
        self._revision = -1

    def refresh(self, attempt: Attempt) -> Status | None:
        """Score all nodes again if any has changed; the filters are up to date.

        Returns:
            None, or the Error of a plugin; after an Error all nodes are scored again.
        """
        nodes = attempt.nodes
        revision = nodes.node_changes.revision
        if self._revision == revision:
            return None
        rows = nodes.rows
        for memo in self._filters:
            rows = memo.among(nodes, rows)
        for column in self._columns:
            column.reset(nodes.capacity)
        status = fill_columns(attempt, rows, self._columns)
        self.varying = varying(self._columns)
        self._revision = revision if status is None else -1
        return status


class ScoreColumn:
    """The raw scores of one plugin; an array is allocated only when scores differ.

    Attributes:
        call: The plugin.
        raw: Shape ``(C,)``; None while all scores are equal.
    """

    __slots__ = ("_capacity", "_constant", "call", "raw")

    def __init__(self, call: ScoreCall) -> None:
        self.call = call
        self.raw: Int64Array | None = None
        self._constant: int | None = None
        self._capacity = 0

    def reset(self, capacity: int) -> None:
        """Forget all scores."""
        self.raw = self._constant = None
        self._capacity = capacity

    def write(self, row: int, score: int) -> None:
        """Set one score."""
        if self.raw is None:
            if self._constant is None:
                self._constant = score
            if self._constant == score:
                return
        self._array()[row] = score

    def fill(self, rows: Rows, scores: Int64Array) -> None:
        """Set the scores of rows; there is at least one row."""
        if self.raw is None:
            first = int(scores[0])
            if self._constant in (None, first) and (scores == first).all():
                self._constant = first
                return
        self._array()[rows] = scores

    def _array(self) -> Int64Array:
        if self.raw is None:
            self.raw = np.full(self._capacity, self._constant or 0, dtype=np.int64)
        return self.raw


def varying(columns: Iterable[ScoreColumn]) -> Varying:
    """Return the plugins whose scores differ between nodes, with their raw scores."""
    return [(column.call, column.raw) for column in columns if column.raw is not None]


def fill_columns(
    attempt: Attempt, rows: Rows, columns: Iterable[ScoreColumn]
) -> Status | None:
    """Score rows by all plugins; return the Error of a plugin, or None."""
    if not attempt.nodes.count(rows):
        return None
    for column in columns:
        # Normalized as well, so that an Error of the plugin's `normalize_score` shows.
        scores = column.call.run(attempt, rows)
        if isinstance(scores, Status):
            return scores
        column.fill(rows, scores.raw)
    return None
