"""The scores of some plugins for all nodes, updated node by node."""

import bisect
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.score_call import MAX_SCORE, ScoreCall
from quaymaster._core.cycle.scoring import Ties
from quaymaster._core.memo.filter_memo import MANY_CHANGED, FilterMemo
from quaymaster._core.memo.static_scores import (
    ScoreColumn,
    StaticScores,
    fill_columns,
    varying,
)
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows

__all__ = ["ScoreMemo", "Totals"]

Totals: TypeAlias = npt.NDArray[np.signedinteger[Any]]
"""Sums of scores, in the smallest integer type that holds the highest sum."""

_INFEASIBLE: Final = -1
"""The total of a node that the filters reject."""

_SIZES: Final = (np.int16, np.int32)


class ScoreMemo:
    """Caches the scores of some plugins for every feasible node, for one signature.

    Args:
        calls: The plugins that look at the pods on a node.
        filters: The filters; only nodes that pass them are scored.
        still: The scores of the plugins that look at nodes only.

    Attributes:
        totals: Shape ``(C,)``: the weighted sum of the scores of the `calls` that do
            not normalize; -1 where a node is rejected.
    """

    __slots__ = (
        "_dtype",
        "_filters",
        "_highest",
        "_keeps_ties",
        "_moving",
        "_revision",
        "_still",
        "_summed",
        "_ties",
        "_used",
        "totals",
    )

    def __init__(
        self,
        calls: Sequence[ScoreCall],
        filters: Sequence[FilterMemo],
        still: StaticScores,
    ) -> None:
        self._filters = filters
        self._summed = [call for call in calls if not call.normalizes]
        self._moving = [ScoreColumn(call) for call in calls if call.normalizes]
        self._still = still
        self._revision = -1
        self._used = 0
        # Total -> the rows that have it, ascending, for totals that were the highest.
        # They are updated with the totals, because finding them takes two passes over
        # all nodes. NumPy's result becomes an `array` when the first row changes:
        # inserting into an `array` is faster.
        self._ties: dict[int, array[int] | RowArray] = {}
        self._highest: int | None = None
        self._keeps_ties = True
        # With 1,000 signatures the totals do not fit into the processor's caches: half
        # the bytes then take half the time to read.
        highest = MAX_SCORE * sum(call.weight for call in self._summed)
        self._dtype: type[np.signedinteger[Any]] = next(
            (size for size in _SIZES if highest <= np.iinfo(size).max), np.int64
        )
        self.totals: Totals = np.zeros(0, dtype=self._dtype)

    def refresh(self, attempt: Attempt) -> Status | None:
        """Score again the nodes that have changed; the filter memos are up to date.

        Returns:
            None, or the Error of a plugin; after an Error all nodes are scored again.
        """
        nodes = attempt.nodes
        revision = nodes.changes.revision
        if revision == self._revision:
            return None
        status = self._catch_up(attempt)
        if status is None:
            status = self._still.refresh(attempt)
        self._revision = revision if status is None else -1
        return status

    def varying(self) -> Sequence[tuple[ScoreCall, Int64Array]]:
        """Return the plugins outside of `totals`, with raw scores of shape ``(C,)``.

        Plugins that give all nodes the same score are omitted: they decide nothing.
        """
        if not self._moving:
            return self._still.varying
        return [*self._still.varying, *varying(self._moving)]

    def best_rows(self) -> Ties:
        """Return the rows with the highest of the `totals`, ascending."""
        # The rows reserved for more nodes may be half of the array.
        totals = self.totals[: self._used]
        if self._highest is None:
            self._highest = int(totals[totals.argmax()])
        best = self._ties.get(self._highest)
        if best is None:
            best = (totals == self._highest).nonzero()[0]
            if self._keeps_ties:
                self._ties[self._highest] = best
        return best

    def _catch_up(self, attempt: Attempt) -> Status | None:
        nodes, changes = attempt.nodes, attempt.nodes.changes
        capacity, self._used = nodes.capacity, len(nodes.infos)
        moved: RowArray | None = None
        if len(self.totals) == capacity:
            few = changes.few_since(self._revision)
            if few is not None:
                self._keeps_ties = True
                return self._score_each(attempt, few)
            moved = changes.rows_since(self._revision)
        if moved is None or MANY_CHANGED * len(moved) > len(nodes):
            self.totals = np.full(capacity, _INFEASIBLE, dtype=self._dtype)
            self._forget_ties()
            self._keeps_ties = True
            for column in self._moving:
                column.reset(capacity)
            return self._score_rows(attempt, self._feasible(attempt, nodes.rows))
        self._forget_ties()
        # Where many rows moved, many will move next time, too: a thousand signatures
        # would each keep thousands of rows that are never used, beyond any cache.
        self._keeps_ties = False
        rows = self._feasible(attempt, nodes.live(moved))
        if rows is not moved:  # Identity: mostly all rows that moved are feasible
            self.totals[moved] = _INFEASIBLE
        return self._score_rows(attempt, rows)

    def _score_each(self, attempt: Attempt, changed: Iterable[int]) -> Status | None:
        state, pod, infos = attempt.state, attempt.pod, attempt.nodes.infos
        for row in changed:
            info = infos[row]
            for memo in self._filters:
                if memo.rejected and memo.rejects(row):
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
        if before in ties:
            left = self._changeable(before)
            del left[bisect.bisect_left(left, row)]
            if not left:
                del ties[before]
        if total in ties:
            bisect.insort(self._changeable(total), row)
        highest = self._highest
        if highest is None:
            return
        if total > highest:
            self._highest = total
            ties[total] = array("q", [row])  # the only row with the new highest total
        elif before == highest and before not in ties:
            self._highest = None

    def _changeable(self, total: int) -> "array[int]":
        """Return the cached rows with a total, as an array that can grow and shrink."""
        rows = self._ties[total]
        if not isinstance(rows, array):
            rows = self._ties[total] = array("q", rows.astype(np.int64).tobytes())
        return rows

    def _forget_ties(self) -> None:
        self._ties.clear()
        self._highest = None

    def _feasible(self, attempt: Attempt, rows: Rows) -> Rows:
        """Return the rows that pass all filters; the same object if all of them do."""
        for memo in self._filters:
            rows = memo.among(attempt.nodes, rows)
        return rows

    def _score_rows(self, attempt: Attempt, rows: Rows) -> Status | None:
        """Score rows that pass the filters."""
        if not attempt.nodes.count(rows):
            return None  # plugins are never called without nodes
        total: Int64Array | None = None
        for call in self._summed:
            scores = call.weighted(attempt, rows)
            if isinstance(scores, Status):
                return scores
            total = scores if total is None else total + scores
        # Converted first: converting by the assignment takes longer than all the rest.
        self.totals[rows] = 0 if total is None else total.astype(self._dtype)
        return fill_columns(attempt, rows, self._moving)
