"""The scores of one plugin: calls and checks its hooks.

Mirrors ``runScorePlugin`` and ``runScoreExtension`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from typing import Final

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, Scope
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.cycle.errors import failed
from quaymaster._core.runtime.profile import Call
from quaymaster._core.state.arrays import (
    Int64Array,
    Rows,
    constant,
    freeze,
    is_constant,
    is_frozen,
)
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["MAX_SCORE", "PluginScores", "ScoreCall"]

MAX_SCORE: Final = 100

# Up to this many rows are scored one by one. For all scores of the default profile,
# that takes 0.7 of the time of their twins for 2 rows, 1.1 for 4 rows and 1.9 for 8.
_FEW_ROWS: Final = 4


@attrs.define(eq=False)
class PluginScores:
    """One plugin's scores of the feasible nodes; arrays of shape ``(N,)``, int64.

    Attributes:
        plugin: The plugin's name.
        weight: The factor of the normalised scores.
        raw: The results of ``score``.
        normalized: The normalised scores, from 0 to 100.
    """

    plugin: str
    weight: int
    raw: Int64Array
    normalized: Int64Array

    @property
    def weighted(self) -> Int64Array:
        """The plugin's part of the totals."""
        if self.weight == 1:
            return self.normalized
        return _times(self.normalized, self.weight)


class ScoreCall:
    """Calls ``score``, ``score_nodes`` and ``normalize_score`` of one plugin.

    Attributes:
        plugin: The plugin's name.
        weight: The factor of its scores.
        is_static: Whether its scores do not depend on the pods on the nodes.
        normalizes: Whether it has ``normalize_score``.
        scalar: The compiled ``score``, for loops over rows: saves a call per row.
    """

    __slots__ = (
        "_normalize",
        "_twin",
        "is_static",
        "normalizes",
        "plugin",
        "scalar",
        "weight",
    )

    def __init__(self, call: Call) -> None:
        self.plugin = call.plugin
        self.weight = call.weight
        self.is_static = call.pod_use is PodUse.NONE or call.scope is Scope.NODES
        self.scalar = call.hooks["score"]
        self._twin = call.hooks.get("score_nodes")
        self._normalize = call.hooks.get("normalize_score")
        self.normalizes = self._normalize is not None

    def run(self, attempt: Attempt, rows: Rows) -> PluginScores | Status:
        """Score all feasible rows, and normalise the scores."""
        raw = self._raw(attempt, rows)
        if isinstance(raw, Status):
            return self.failed(raw)
        return self.normalized(attempt, rows, raw)

    def weighted(self, attempt: Attempt, rows: Rows) -> Int64Array | Status:
        """Return the plugin's part of the totals; only if it does not normalise."""
        raw = self._raw(attempt, rows)
        if isinstance(raw, Status):
            return self.failed(raw)
        wrong = _out_of_range(raw)
        if wrong is not None:
            return self.out_of_range(wrong)
        return raw if self.weight == 1 else _times(raw, self.weight)

    def normalized(
        self, attempt: Attempt, rows: Rows, raw: Int64Array
    ) -> PluginScores | Status:
        """Normalise the raw scores of all feasible rows, and check their range."""
        normalized = self._normalized(attempt, rows, raw)
        if isinstance(normalized, Status):
            prefix = (
                "running Normalize on Score plugins: "
                f'plugin "{self.plugin}" failed with'
            )
            return failed(prefix, self.plugin, normalized)
        wrong = _out_of_range(normalized)
        if wrong is not None:
            return self.out_of_range(wrong)
        return PluginScores(self.plugin, self.weight, raw, normalized)

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return the raw score of one node, or an Error."""
        score: int | Status = self.scalar(state, pod, node)
        return self.failed(score) if isinstance(score, Status) else score

    def _raw(self, attempt: Attempt, rows: Rows) -> Int64Array | Status:
        nodes = attempt.nodes
        if self._twin is None or (
            not isinstance(rows, slice) and len(rows) <= _FEW_ROWS < len(nodes)
        ):
            return self._loop(attempt, rows)
        scores: Int64Array | Status
        scores = self._twin(attempt.state, attempt.pod, nodes, rows)
        return scores

    def _loop(self, attempt: Attempt, rows: Rows) -> Int64Array | Status:
        state, pod, nodes = attempt.state, attempt.pod, attempt.nodes
        raw: Int64Array = np.empty(nodes.count(rows), dtype=np.int64)
        for index, node in enumerate(nodes.infos_at(rows)):
            score: int | Status = self.scalar(state, pod, node)
            if isinstance(score, Status):
                return score
            raw[index] = score
        return raw

    def _normalized(
        self, attempt: Attempt, rows: Rows, raw: Int64Array
    ) -> Int64Array | Status:
        if self._normalize is None:
            return raw
        # A plugin gets its own frozen array back, and may recognise it by identity.
        frozen = raw if is_frozen(raw) else freeze(raw.view())
        state, pod, nodes = attempt.state, attempt.pod, attempt.nodes
        scores: Int64Array | Status | None
        scores = self._normalize(state, pod, frozen, nodes, rows)
        return raw if scores is None else scores

    def failed(self, status: Status) -> Status:
        """Make the Error for a failed or invalid score."""
        prefix = f'running Score plugins: plugin "{self.plugin}" failed with'
        return failed(prefix, self.plugin, status)

    def out_of_range(self, wrong: int) -> Status:
        """Make the Error for a final score that is not between 0 and 100."""
        return Status.from_error(
            "applying score defaultWeights on Score plugins: "
            f'plugin "{self.plugin}" returns an invalid score {wrong}, it should in '
            f"the range of [0, {MAX_SCORE}] after normalizing"
        )


def _times(scores: Int64Array, weight: int) -> Int64Array:
    if is_constant(scores):
        return constant(int(scores[0]) * weight, len(scores))
    return scores * weight


def _out_of_range(scores: Int64Array) -> int | None:
    """Return the first score that is not between 0 and 100, if any."""
    if not len(scores):
        return None
    if is_constant(scores):
        scores = scores[:1]
    # As unsigned numbers, negative scores are far above the limit: one pass, not two.
    # `argmax` takes half as long as `max`.
    unsigned = scores.view(np.uint64)
    if unsigned.item(unsigned.argmax()) <= MAX_SCORE:
        return None
    return int(scores[(scores < 0) | (scores > MAX_SCORE)][0])
