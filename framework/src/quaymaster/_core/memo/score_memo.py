"""The scores that some plugins gave to all nodes, updated node by node."""

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
"""Sums of scores, in the smallest type that none can be too large for."""

_INFEASIBLE: Final = -1
"""The total of a node that does not pass."""

_SIZES: Final = (np.int16, np.int32)


class ScoreMemo:
    """Keeps how some plugins scored every node that passes, for one signature.

    Args:
        calls: The plugins, without those of `still`.
        filters: What passes: only such nodes are scored.
        still: The scores of plugins that look at nodes only.

    Attributes:
        totals: Shape ``(C,)``: the weighted sum of the scores that change with the
            pods on a node and are final as they are; -1 where a node does not pass.
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
        # Total -> the rows that have it, ascending: for totals that were the highest.
        # Kept as totals change, since to find the rows takes two passes over all. They
        # come as NumPy finds them, and become what is quick to change when one does.
        self._ties: dict[int, array[int] | RowArray] = {}
        self._highest: int | None = None
        self._keeps_ties = True
        # With 1,000 kinds of pods each total is read from main memory: half of it takes
        # half of the time.
        highest = MAX_SCORE * sum(call.weight for call in self._summed)
        self._dtype: type[np.signedinteger[Any]] = next(
            (size for size in _SIZES if highest <= np.iinfo(size).max), np.int64
        )
        self.totals: Totals = np.zeros(0, dtype=self._dtype)

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
        if status is None:
            status = self._still.refresh(attempt)
        self._revision = revision if status is None else -1
        return status

    def varying(self) -> Sequence[tuple[ScoreCall, Int64Array]]:
        """Return the plugins beside the `totals`, with raw scores of shape ``(C,)``.

        Those that score all nodes alike are left out: they decide nothing.
        """
        if not self._moving:
            return self._still.varying
        return [*self._still.varying, *varying(self._moving)]

    def best_rows(self) -> Ties:
        """Return the rows with the highest of the `totals`, ascending."""
        # Without the room for more nodes, which may be half of the array.
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
        # Next time it will be many rows again: a thousand kinds would keep thousands of
        # rows each, for nothing, and in memory that no cache holds.
        self._keeps_ties = False
        rows = self._feasible(attempt, nodes.live(moved))
        if rows is not moved:  # Identity: in most cases all that moved are feasible
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
            ties[total] = array("q", [row])  # nobody else has so much
        elif before == highest and before not in ties:
            self._highest = None

    def _changeable(self, total: int) -> "array[int]":
        """Return the rows with a total that is known, to be changed."""
        rows = self._ties[total]
        if not isinstance(rows, array):
            rows = self._ties[total] = array("q", rows.astype(np.int64).tobytes())
        return rows

    def _forget_ties(self) -> None:
        self._ties.clear()
        self._highest = None

    def _feasible(self, attempt: Attempt, rows: Rows) -> Rows:
        """Return those of some rows that pass; the same object if all do."""
        for memo in self._filters:
            rows = memo.among(attempt.nodes, rows)
        return rows

    def _score_rows(self, attempt: Attempt, rows: Rows) -> Status | None:
        """Score rows that pass."""
        if not attempt.nodes.count(rows):
            return None  # plugins are asked about nodes, not about none
        total: Int64Array | None = None
        for call in self._summed:
            scores = call.weighted(attempt, rows)
            if isinstance(scores, Status):
                return scores
            total = scores if total is None else total + scores
        # In its own type: to change it on the way takes longer than all the rest.
        self.totals[rows] = 0 if total is None else total.astype(self._dtype)
        return fill_columns(attempt, rows, self._moving)
