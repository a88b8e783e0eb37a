"""The scores that some plugins gave to all nodes, updated node by node."""

import bisect
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from quaymaster._contract.status import Status
from quaymaster._cycle.attempt import Attempt
from quaymaster._cycle.score_call import MAX_SCORE, ScoreCall
from quaymaster._memo.filter_memo import MANY_CHANGED, FilterMemo, few_since
from quaymaster._state.arrays import Int64Array, RowArray, Rows

__all__ = ["ScoreMemo"]

_INFEASIBLE: Final = -1
"""The total of a node that does not pass."""


class ScoreMemo:
    """Keeps how some plugins scored every node that passes, for one signature.

    Args:
        calls: The plugins.
        filters: What passes: only such nodes are scored.

    Attributes:
        totals: Shape ``(C,)``: the weighted sum of the scores that change with the
            pods on a node and are final as they are; -1 where a node does not pass.
    """

    __slots__ = (
        "_columns",
        "_filters",
        "_highest",
        "_moving",
        "_node_revision",
        "_revision",
        "_still",
        "_summed",
        "_ties",
        "totals",
    )

    def __init__(
        self, calls: Sequence[ScoreCall], filters: Sequence[FilterMemo]
    ) -> None:
        self._filters = filters
        self._summed = [call for call in calls if _is_summed(call)]
        columns = [_Column(call) for call in calls if not _is_summed(call)]
        self._still = [column for column in columns if column.call.is_static]
        self._moving = [column for column in columns if not column.call.is_static]
        self._columns = columns
        self._revision = -1
        self._node_revision = -1
        # Total -> the rows that have it, ascending: for totals that were the highest.
        # Kept as totals change, since to find the rows takes two passes over all.
        self._ties: dict[int, array[int]] = {}
        self._highest: int | None = None
        self.totals: Int64Array = np.zeros(0, dtype=np.int64)

    def refresh(self, attempt: Attempt) -> Status | None:
        """Score the nodes again that have changed; the filter memos are up to date.

        Returns:
            None, or the Error that a plugin met: then nothing is remembered.
        """
        nodes = attempt.nodes
        revision = nodes.changes.revision
        if revision == self._revision:
            return None
        status = self._catch_up(attempt)
        node_revision = nodes.node_changes.revision
        if status is None and self._node_revision != node_revision:
            status = self._fill_columns(attempt)
            self._node_revision = node_revision if status is None else -1
        self._revision = revision if status is None else -1
        return status

    def varying(self) -> Sequence[tuple[ScoreCall, Int64Array]]:
        """Return the plugins beside the `totals`, with raw scores of shape ``(C,)``.

        Those that score all nodes alike are left out: they decide nothing.
        """
        return [
            (column.call, column.raw)
            for column in self._columns
            if column.raw is not None
        ]

    def best_rows(self) -> Sequence[int]:
        """Return the rows with the highest of the `totals`, ascending."""
        totals = self.totals
        if self._highest is None:
            self._highest = int(totals[totals.argmax()])
        best = self._ties.get(self._highest)
        if best is None:
            rows = (totals == self._highest).nonzero()[0]
            best = array("i", rows.astype(np.int32).tobytes())
            self._ties[self._highest] = best
        return best

    def _catch_up(self, attempt: Attempt) -> Status | None:
        nodes, changes = attempt.nodes, attempt.nodes.changes
        capacity = nodes.capacity
        moved: RowArray | None = None
        if len(self.totals) == capacity:
            few = few_since(changes, self._revision)
            if few is not None:
                return self._score_each(attempt, few)
            moved = changes.rows_since(self._revision)
        if moved is None or MANY_CHANGED * len(moved) > len(nodes):
            self.totals = np.full(capacity, _INFEASIBLE, dtype=np.int64)
            self._forget_ties()
            self._node_revision = -1
            for column in self._moving:
                column.reset(capacity)
            return self._score_rows(attempt, nodes.rows)
        self._forget_ties()
        self.totals[moved] = _INFEASIBLE
        return self._score_rows(attempt, nodes.live(moved))

    def _fill_columns(self, attempt: Attempt) -> Status | None:
        """Ask the plugins that look at nodes only about all nodes again."""
        nodes = attempt.nodes
        rows = nodes.rows
        for memo in self._filters:
            if memo.is_static:
                rows = memo.among(nodes, rows)
        for column in self._still:
            column.reset(nodes.capacity)
        return _fill(attempt, rows, self._still)

    def _score_each(self, attempt: Attempt, changed: Iterable[int]) -> Status | None:
        state, pod, infos = attempt.state, attempt.pod, attempt.nodes.infos
        for row in changed:
            info = infos[row]
            for memo in self._filters:
                if memo.rejects(row):
                    info = None
            if info is None:
                self._write(row, _INFEASIBLE)
                continue
            total = 0
            for call in self._summed:
                score = call.scalar(state, pod, info)
                if type(score) is not int:
                    return call.failed(score)
                if not 0 <= score <= MAX_SCORE:
                    return call.out_of_range(score)
                total += call.weight * score
            self._write(row, total)
            for column in self._moving:
                score = column.call.scalar(state, pod, info)
                if type(score) is not int:
                    return column.call.failed(score)
                column.write(row, score)
        return None

    def _write(self, row: int, total: int) -> None:
        """Set one total, and update the rows that share it or shared the old one."""
        totals, ties = self.totals, self._ties
        before = totals.item(row)
        if before == total:
            return
        totals[row] = total
        left, joined = ties.get(before), ties.get(total)
        if left is not None:
            del left[bisect.bisect_left(left, row)]
            if not left:
                del ties[before]
        if joined is not None:
            bisect.insort(joined, row)
        highest = self._highest
        if highest is None:
            return
        if total > highest:
            self._highest = total
            ties[total] = array("i", [row])  # nobody else has so much
        elif before == highest and before not in ties:
            self._highest = None

    def _forget_ties(self) -> None:
        self._ties.clear()
        self._highest = None

    def _score_rows(self, attempt: Attempt, rows: Rows) -> Status | None:
        nodes = attempt.nodes
        for memo in self._filters:
            rows = memo.among(nodes, rows)
        if not nodes.count(rows):
            return None  # plugins are asked about nodes, not about none
        total: Int64Array | int = 0
        for call in self._summed:
            scores = call.run(attempt, rows)
            if isinstance(scores, Status):
                return scores
            total = scores.weighted + total
        self.totals[rows] = total
        return _fill(attempt, rows, self._moving)


def _fill(
    attempt: Attempt,
    rows: Rows,
    columns: Iterable["_Column"],
) -> Status | None:
    if not attempt.nodes.count(rows):
        return None
    for column in columns:
        # The whole of it, so that a plugin which cannot normalise is found out.
        scores = column.call.run(attempt, rows)
        if isinstance(scores, Status):
            return scores
        column.fill(rows, scores.raw)
    return None


class _Column:
    """The raw scores of one plugin; they become an array only when they differ.

    Attributes:
        call: The plugin.
        raw: Shape ``(C,)``; None as long as all scores are the same.
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
        """Set many scores; at least one."""
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


def _is_summed(call: ScoreCall) -> bool:
    return not (call.normalizes or call.is_static)
