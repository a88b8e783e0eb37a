"""The Score station: which of the feasible nodes suits the pod best.

Mirrors ``prioritizeNodes``, ``RunPreScorePlugins`` and ``RunScorePlugins`` (Kubernetes
v1.36, ``pkg/scheduler``).
"""

from collections.abc import Sequence

import attrs
import numpy as np

from quaymaster._cycle.errors import PluginError, failed, unexpected
from quaymaster._runtime import Call, HookFunction
from quaymaster.arrays import Int64Array, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.node_table import NodeTable
from quaymaster.objects import Pod
from quaymaster.status import Status

__all__ = ["MAX_SCORE", "PluginScores", "ScoreStation"]

MAX_SCORE = 100


@attrs.frozen(eq=False)
class PluginScores:
    """One plugin's scores of the feasible nodes; arrays of shape ``(N,)``, int64.

    Attributes:
        plugin: The plugin's name.
        weight: What its normalised scores are multiplied by.
        raw: As ``score`` gave them.
        normalized: From 0 to 100.
    """

    plugin: str
    weight: int
    raw: Int64Array
    normalized: Int64Array

    @property
    def weighted(self) -> Int64Array:
        """The plugin's part of the totals."""
        return self.normalized * self.weight


@attrs.frozen
class _Score:
    plugin: str
    weight: int
    scalar: HookFunction
    twin: HookFunction | None
    normalize: HookFunction | None


class ScoreStation:
    """Calls ``pre_score``, ``score`` and ``normalize_score`` of a profile's plugins."""

    def __init__(self, pre_score: Sequence[Call], score: Sequence[Call]) -> None:
        self._pre_score = [(call.plugin, call.hooks["pre_score"]) for call in pre_score]
        self._scores = [
            _Score(
                call.plugin,
                call.weight,
                call.hooks["score"],
                call.hooks.get("score_nodes"),
                call.hooks.get("normalize_score"),
            )
            for call in score
        ]

    def __bool__(self) -> bool:
        return bool(self._scores)

    def prepare(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Status | None:
        """Run PreScore, and note in the state which scores may be skipped."""
        skipped: set[str] = set()
        try:
            for plugin, pre_score in self._pre_score:
                status = self._call_pre_score(
                    plugin, pre_score, state, pod, nodes, rows
                )
                if status is None:
                    continue
                if status.is_skip:
                    skipped.add(plugin)
                else:
                    return failed(f'running PreScore plugin "{plugin}"', plugin, status)
        finally:
            state.skip_score_plugins = frozenset(skipped)
        return None

    def totals(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        """The weighted sum of all plugins' scores, shape ``(N,)``, after `prepare`.

        Without any Score plugin every node has 1.
        """
        count = nodes.count(rows)
        if not self._scores:
            return np.ones(count, dtype=np.int64)
        total: Int64Array = np.zeros(count, dtype=np.int64)
        for item in self._scores:
            if item.plugin in state.skip_score_plugins:
                continue
            scores = self._run(item, state, pod, nodes, rows)
            if isinstance(scores, Status):
                return scores
            total += scores.weighted if item.weight != 1 else scores.normalized
        return total

    def by_plugin(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> list[PluginScores] | Status:
        """Each plugin's scores on their own, after `prepare`; for explanations."""
        found = []
        for item in self._scores:
            if item.plugin not in state.skip_score_plugins:
                scores = self._run(item, state, pod, nodes, rows)
                if isinstance(scores, Status):
                    return scores
                found.append(scores)
        return found

    def _call_pre_score(
        self,
        plugin: str,
        function: HookFunction,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
    ) -> Status | None:
        try:
            status = function(state, pod, nodes, rows)
        except Exception as error:
            return Status.from_error(error)
        if status is None or isinstance(status, Status):
            return status
        return unexpected(plugin, "pre_score", status, "Status or None")

    def _run(
        self, item: _Score, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> PluginScores | Status:
        raw = self._raw(item, state, pod, nodes, rows)
        if isinstance(raw, Status):
            prefix = f'running Score plugins: plugin "{item.plugin}" failed with'
            return failed(prefix, item.plugin, raw)
        normalized = self._normalized(item, state, pod, nodes, rows, raw)
        if isinstance(normalized, Status):
            prefix = (
                "running Normalize on Score plugins: "
                f'plugin "{item.plugin}" failed with'
            )
            return failed(prefix, item.plugin, normalized)
        # Seen as unsigned, a negative score is far above the limit: one pass, not two.
        if len(normalized) and normalized.view(np.uint64).max() > MAX_SCORE:
            return self._out_of_range(item, normalized)
        return PluginScores(item.plugin, item.weight, raw, normalized)

    def _raw(
        self, item: _Score, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        if item.twin is None:
            return self._loop(item, state, pod, nodes, rows)
        try:
            raw = item.twin(state, pod, nodes, rows)
        except Exception as error:
            return Status.from_error(error)
        if isinstance(raw, Status):
            return raw
        return self._checked(item, "score_nodes", raw, nodes.count(rows))

    def _loop(
        self, item: _Score, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        raw: Int64Array = np.empty(nodes.count(rows), dtype=np.int64)
        try:
            for index, node in enumerate(nodes.infos_at(rows)):
                score = item.scalar(state, pod, node)
                if isinstance(score, Status):
                    return score
                if not isinstance(score, (int, np.integer)) or isinstance(score, bool):
                    return unexpected(item.plugin, "score", score, "int or Status")
                raw[index] = score
        except Exception as error:
            return Status.from_error(error)
        return raw

    def _normalized(
        self,
        item: _Score,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        raw: Int64Array,
    ) -> Int64Array | Status:
        if item.normalize is None:
            return raw
        raw = raw.view()  # the array itself may be one that the plugin keeps
        raw.flags.writeable = False
        try:
            scores = item.normalize(state, pod, raw, nodes, rows)
        except Exception as error:
            return Status.from_error(error)
        if scores is None:
            return raw
        if isinstance(scores, Status):
            return scores
        return self._checked(item, "normalize_score", scores, len(raw))

    def _checked(
        self, item: _Score, hook: str, scores: object, count: int
    ) -> Int64Array | Status:
        if not isinstance(scores, np.ndarray):
            expected = "an int64 array or Status"
            return unexpected(item.plugin, hook, scores, expected)
        if scores.shape == (count,) and scores.dtype == np.int64:
            return scores
        found = f"shape {scores.shape}, dtype {scores.dtype}"
        problem = f"returned {found}, expected shape ({count},), dtype int64"
        return Status.from_error(PluginError(item.plugin, hook, problem))

    def _out_of_range(self, item: _Score, scores: Int64Array) -> Status:
        wrong = scores[(scores < 0) | (scores > MAX_SCORE)][0]
        return Status.from_error(
            "applying score defaultWeights on Score plugins: "
            f'plugin "{item.plugin}" returns an invalid score {wrong}, it should in '
            f"the range of [0, {MAX_SCORE}] after normalizing"
        )
