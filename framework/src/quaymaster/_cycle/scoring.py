"""The Score station: which of the feasible nodes suits the pod best.

Mirrors ``prioritizeNodes``, ``RunPreScorePlugins`` and ``RunScorePlugins`` (Kubernetes
v1.36, ``pkg/scheduler``).
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from quaymaster._cycle.diagnosis import picked
from quaymaster._cycle.errors import failed, raised, unexpected
from quaymaster._cycle.memory import Recalled
from quaymaster._cycle.prepared import Calls, Lesson
from quaymaster._cycle.score_call import PluginScores, ScoreCall
from quaymaster._cycle.score_memo import ScoreMemo
from quaymaster._runtime import Call
from quaymaster.arrays import Int64Array, RowArray, Rows, is_constant
from quaymaster.cycle_state import CycleState
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = ["Ranking", "ScoreStation", "Ties"]

Ties: TypeAlias = Sequence[int] | RowArray
"""Rows with the same total, ascending; at least one."""


class Ranking:
    """Feasible nodes and how well they suit a pod; at least one.

    Args:
        rows: Their rows.
        totals: Shape ``(N,)``: the total of each.

    Attributes:
        rows: The same.
    """

    __slots__ = ("_totals", "rows")

    def __init__(self, rows: Rows, totals: Int64Array) -> None:
        self.rows = rows
        self._totals = totals

    @property
    def totals(self) -> Int64Array:
        """Shape ``(N,)``: the total of each row."""
        return self._totals

    def best_rows(self) -> Ties:
        """The rows with the highest total, ascending."""
        totals = self.totals
        best = (totals == totals[totals.argmax()]).nonzero()[0]
        return picked(self.rows, best)


class _RememberedRanking(Ranking):
    """All nodes that were scored, with their totals remembered.

    Args:
        rows: Their rows.
        memo: Their scores.
    """

    __slots__ = ("_memo",)

    def __init__(self, rows: Rows, memo: ScoreMemo) -> None:
        self.rows = rows
        self._memo = memo

    @property
    def totals(self) -> Int64Array:
        return _at(self._memo.totals, self.rows)

    def best_rows(self) -> Ties:
        return self._memo.best_rows()


class ScoreStation:
    """Calls ``pre_score``, ``score`` and ``normalize_score`` of a profile's plugins."""

    def __init__(self, pre_score: Sequence[Call], score: Sequence[Call]) -> None:
        self._pre_score: Calls = [
            (call.plugin, call.hooks["pre_score"]) for call in pre_score
        ]
        self._calls = [ScoreCall(call) for call in score]

    def __bool__(self) -> bool:
        return bool(self._calls)

    def prepare(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        recalled: Recalled | None = None,
    ) -> Status | None:
        """Run PreScore, and note in the state which scores may be skipped."""
        if recalled is None:
            return self._prepare(self._pre_score, _NONE, state, pod, nodes, rows)
        known = recalled.pre_score
        if known is not None:
            known.write(state)
            return self._prepare(known.calls, known.skips, state, pod, nodes, rows)
        lesson = Lesson(self._pre_score, recalled.plugins)
        status = self._prepare(lesson.calls, _NONE, state, pod, nodes, rows)
        recalled.pre_score = lesson.learnt(self._pre_score)
        return status

    def rank(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        recalled: Recalled | None = None,
    ) -> Ranking | Status:
        """The weighted sum of all plugins' scores, after `prepare`.

        Without any Score plugin every node has 1. With a memory, what all nodes have
        in common may be missing.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            rows: The feasible rows.
            recalled: What is remembered of the pod, if anything is.

        Returns:
            The rows with their totals, or an Error.
        """
        memo = None if recalled is None else self._memo(state, pod, nodes, recalled)
        if recalled is None or memo is None:
            total = self.totals(state, pod, nodes, rows)
            return total if isinstance(total, Status) else Ranking(rows, total)
        parts = self._parts(state, pod, nodes, rows, recalled, memo)
        if isinstance(parts, Status):
            return parts
        if parts:
            total = _at(memo.totals, rows) + parts[0]
            for part in parts[1:]:
                total += part
            return Ranking(rows, total)
        plan = recalled.filters
        if plan is not None and rows is plan.passing:
            return _RememberedRanking(rows, memo)
        return Ranking(rows, _at(memo.totals, rows))

    def totals(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        """The totals of all plugins asked anew, shape ``(N,)``, after `prepare`."""
        count = nodes.count(rows)
        if not self._calls:
            return np.ones(count, dtype=np.int64)
        total: Int64Array = np.zeros(count, dtype=np.int64)
        skipped = state.skip_score_plugins
        for call in self._calls:
            if call.plugin in skipped:
                continue
            scores = call.run(state, pod, nodes, rows)
            if isinstance(scores, Status):
                return scores
            total += scores.weighted
        return total

    def by_plugin(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> list[PluginScores] | Status:
        """Each plugin's scores on their own, after `prepare`; for explanations."""
        found = []
        for call in self._calls:
            if call.plugin not in state.skip_score_plugins:
                scores = call.run(state, pod, nodes, rows)
                if isinstance(scores, Status):
                    return scores
                found.append(scores)
        return found

    def _parts(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        recalled: Recalled,
        memo: ScoreMemo,
    ) -> list[Int64Array] | Status:
        """What is to be added to the remembered totals, as far as it differs."""
        parts: list[Int64Array] = []
        for call, raw in memo.varying():
            scores = call.normalized(state, pod, nodes, rows, _at(raw, rows))
            if isinstance(scores, Status):
                return scores
            parts.append(scores.weighted)
        skipped = state.skip_score_plugins
        for call in recalled.live_scores:
            if call.plugin in skipped:
                continue
            scores = call.run(state, pod, nodes, rows)
            if isinstance(scores, Status):
                return scores
            if not is_constant(scores.normalized):
                parts.append(scores.weighted)
        return parts

    def _prepare(
        self,
        calls: Calls,
        skips: frozenset[str],
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
    ) -> Status | None:
        skipped: list[str] = []
        try:
            for plugin, pre_score in calls:
                try:
                    status = pre_score(state, pod, nodes, rows)
                except Exception as error:
                    status = raised(error)
                if status is None:
                    continue
                if status is _SKIP:
                    skipped.append(plugin)
                    continue
                if not isinstance(status, Status):
                    status = unexpected(plugin, "pre_score", status, "Status or None")
                if status.is_skip:
                    skipped.append(plugin)
                else:
                    return failed(f'running PreScore plugin "{plugin}"', plugin, status)
        finally:
            state.skip_score_plugins = skips.union(skipped)
        return None

    def _memo(
        self, state: CycleState, pod: Pod, nodes: NodeTable, recalled: Recalled
    ) -> ScoreMemo | None:
        """The remembered scores, up to date; None if there are none to rely on."""
        known, filters = recalled.pre_score, recalled.filters
        if known is None or filters is None:
            return None
        for one in filters.memos:
            if not one.is_current(nodes):
                return None
        memo = recalled.scores
        if memo is None:
            remembered = [
                call
                for call in self._calls
                if call.plugin in recalled.plugins and call.plugin not in known.skips
            ]
            recalled.live_scores = [
                call for call in self._calls if call.plugin not in recalled.plugins
            ]
            memo = recalled.scores = ScoreMemo(remembered, filters.memos)
        return memo if memo.refresh(state, pod, nodes) is None else None


def _at(column: Int64Array, rows: Rows) -> Int64Array:
    # To take is quicker than to index with an array.
    return column[rows] if isinstance(rows, slice) else column.take(rows)


_NONE: Final[frozenset[str]] = frozenset()
_SKIP: Final = Status.skip()
