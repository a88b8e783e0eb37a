"""The Score station: ranks the feasible nodes.

Mirrors ``prioritizeNodes``, ``RunPreScorePlugins`` and ``RunScorePlugins`` (Kubernetes
v1.36, ``pkg/scheduler``).
"""

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.diagnosis import picked
from quaymaster._core.cycle.errors import failed
from quaymaster._core.cycle.pre_filter import Calls, Record
from quaymaster._core.cycle.score_call import PluginScores, ScoreCall
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows

__all__ = ["Ranking", "ScoreStation", "Scores", "Ties"]

Ties: TypeAlias = Sequence[int] | RowArray
"""Rows with the same total, ascending; at least one."""

_NONE: Final[frozenset[str]] = frozenset()
_SKIP: Final = Status.skip()


class Ranking:
    """Feasible nodes with their totals; at least one.

    Args:
        rows: The rows of the nodes.
        totals: Shape ``(N,)``: the total of each row.

    Attributes:
        rows: The rows of the nodes.
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
        """Return the rows with the highest total, ascending."""
        totals = self.totals
        best = (totals == totals[totals.argmax()]).nonzero()[0]
        return picked(self.rows, best)


class Scores(Protocol):
    """Ranks the feasible nodes, by calling every plugin or with a memo."""

    def prepare(self, attempt: Attempt, rows: Rows, /) -> Status | None:
        """Run PreScore, and note in the state which scores may be skipped."""

    def ranking(self, attempt: Attempt, rows: Rows, /) -> Ranking | Status:
        """Run Score, after `prepare`.

        Args:
            attempt: The attempt.
            rows: The feasible rows.

        Returns:
            The rows with their totals, or the Error that ends the attempt. A number
            that is equal for all rows may be missing in the totals.
        """


class ScoreStation:
    """Runs the PreScore and Score plugins of one profile; implements `Scores`.

    Attributes:
        pre_score: The PreScore plugins with their hooks.
        calls: The Score plugins.
    """

    def __init__(self, pre_score: Sequence[Call], score: Sequence[Call]) -> None:
        self.pre_score: Calls = [
            (call.plugin, call.hooks["pre_score"]) for call in pre_score
        ]
        self.calls = [ScoreCall(call) for call in score]

    def __bool__(self) -> bool:
        return bool(self.calls)

    def prepare(self, attempt: Attempt, rows: Rows) -> Status | None:
        """See `Scores.prepare`."""
        return self.prepare_some(attempt, rows, self.pre_score, _NONE)

    def ranking(self, attempt: Attempt, rows: Rows) -> Ranking | Status:
        """See `Scores.ranking`."""
        totals = self.totals(attempt, rows)
        return totals if isinstance(totals, Status) else Ranking(rows, totals)

    def totals(self, attempt: Attempt, rows: Rows) -> Int64Array | Status:
        """Add up the weighted scores of all plugins, shape ``(N,)``."""
        scores = self.by_plugin(attempt, rows)
        if isinstance(scores, Status):
            return scores
        return self.summed(scores, attempt.nodes.count(rows))

    def summed(self, scores: Sequence[PluginScores], count: int) -> Int64Array:
        """Add up the weighted scores of some plugins for a number of nodes.

        Without Score plugins, the total of every node is 1.
        """
        if not self.calls:
            # As ``prioritizeNodes`` without Score plugins.
            return np.ones(count, dtype=np.int64)
        total: Int64Array = np.zeros(count, dtype=np.int64)
        for plugin_scores in scores:
            total += plugin_scores.weighted
        return total

    def run(self, attempt: Attempt, rows: Rows) -> list[PluginScores] | Status:
        """Run PreScore and Score, and return the scores of each plugin."""
        status = self.prepare(attempt, rows)
        return self.by_plugin(attempt, rows) if status is None else status

    def by_plugin(self, attempt: Attempt, rows: Rows) -> list[PluginScores] | Status:
        """Return the scores of each plugin, after `prepare`."""
        by_plugin = []
        skipped = attempt.state.skip_score_plugins
        for call in self.calls:
            if call.plugin not in skipped:
                scores = call.run(attempt, rows)
                if isinstance(scores, Status):
                    return scores
                by_plugin.append(scores)
        return by_plugin

    def prepare_some(
        self,
        attempt: Attempt,
        rows: Rows,
        calls: Calls,
        skips: frozenset[str],
        record: Record | None = None,
    ) -> Status | None:
        """Run some calls of PreScore, and note which scores may be skipped.

        Args:
            attempt: The attempt.
            rows: The feasible rows.
            calls: The calls to run, in profile order.
            skips: Other plugins, which skip the pod.
            record: Called with each plugin and its answer, if given.
        """
        state, pod, nodes = attempt.state, attempt.pod, attempt.nodes
        if not calls:
            state.skip_score_plugins = skips
            return None
        skipped: list[str] = []
        try:
            for plugin, pre_score in calls:
                status: Status | None = pre_score(state, pod, nodes, rows)
                if record is not None:
                    record(plugin, status)
                if status is None:
                    continue
                if status is not _SKIP:
                    return failed(f'running PreScore plugin "{plugin}"', plugin, status)
                skipped.append(plugin)
        finally:
            # In any case, like PreFilter's: the state must not keep the skips of an
            # earlier call.
            state.skip_score_plugins = skips.union(skipped)
        return None
