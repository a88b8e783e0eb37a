"""The stations that generate placements of a group, and rank them.

Mirrors ``RunPlacementGeneratePlugins`` and ``RunPlacementScorePlugins`` (Kubernetes
v1.37, ``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.errors import failed
from quaymaster._core.cycle.score_call import MAX_SCORE, PluginScores
from quaymaster._core.runtime.profile import Call, Profile
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows, freeze
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Candidate", "PlacementGenerateStation", "PlacementScoreStation"]

_A_PAIR: Final = 2

Candidate: TypeAlias = tuple[CycleState, PodGroupAssignments]
"""A placement on which the group fits, with its cycle state."""


class PlacementGenerateStation:
    """Calls ``placement_generate`` of one profile's first plugin.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
    """

    def __init__(self, profile: Profile, nodes: NodeTable) -> None:
        self._calls = profile.plan("placementGenerate")
        self._nodes = nodes

    def run(
        self, state: CycleState, group: PodGroupInfo, rows: Rows
    ) -> Sequence[PodGroupPlacement] | Status:
        """Return at least one placement, with ascending rows; or a rejection or Error.

        Args:
            state: The cycle state of the group.
            group: The group.
            rows: The nodes that the group may use.
        """
        nodes = self._nodes
        parent = PodGroupPlacement("", rows)
        # Without a plugin, and without the feature gate
        # TopologyAwareWorkloadScheduling, the only placement is all nodes.
        if not self._calls:
            return [parent]
        # Only the first is called; upstream does not even start with a profile that
        # enables more than one (``NewFramework`` in framework.go).
        call = self._calls[0]
        answer: Sequence[PodGroupPlacement] | Status
        answer = call.hooks["placement_generate"](state, group, nodes, parent)
        if isinstance(answer, Status):
            if answer.is_rejected or answer.is_error:
                return answer.with_plugin(call.plugin)
            return failed("running PlacementGenerate plugin", call.plugin, answer)
        if not answer:
            status = Status.unschedulable("no feasible placements found")
            return status.with_plugin(call.plugin)
        return self._checked(call.plugin, answer)

    def _checked(
        self, plugin: str, placements: Sequence[PodGroupPlacement]
    ) -> Sequence[PodGroupPlacement] | Status:
        nodes = self._nodes
        all_rows = nodes.row_numbers(nodes.rows)
        # One array for all placements: a set of the rows for each would take half of
        # the time of the whole search.
        has_node = np.zeros(int(all_rows.max(initial=-1)) + 1, dtype=np.bool_)
        has_node[all_rows] = True
        checked = []
        for placement in placements:
            rows = _ascending(nodes.row_numbers(placement.rows))
            is_inside = (rows >= 0) & (rows < len(has_node))
            strange = rows[~is_inside] if not is_inside.all() else rows[~has_node[rows]]
            if len(strange):
                text = f"row {strange[0]} of placement {placement.name!r} has no node"
                return failed(
                    "failed to assume pod group placement",
                    plugin,
                    Status.from_error(text),
                )
            checked.append(PodGroupPlacement(placement.name, rows))
        return checked


def _ascending(rows: RowArray) -> RowArray:
    """Return rows in ascending order, each once."""
    if len(rows) < _A_PAIR or bool((rows[1:] > rows[:-1]).all()):
        return rows
    return np.unique(rows)


class PlacementScoreStation:
    """Calls the hooks of placement scores of one profile's plugins.

    Args:
        profile: The profile.
        nodes: The columns of all nodes.
    """

    def __init__(self, profile: Profile, nodes: NodeTable) -> None:
        self._calls = profile.plan("placementScore")
        self._nodes = nodes

    def totals(
        self, state: CycleState, group: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> Int64Array | Status:
        """Return the sum of the weighted scores of each placement, or an Error.

        Args:
            state: The cycle state of the group.
            group: The group.
            candidates: The placements.
        """
        scores = self.scores(state, group, candidates)
        if isinstance(scores, Status):
            return scores
        total: Int64Array = np.zeros(len(candidates), dtype=np.int64)
        for of_plugin in scores:
            normalized = of_plugin.normalized
            wrong = normalized[(normalized < 0) | (normalized > MAX_SCORE)]
            if len(wrong):
                return _out_of_range(of_plugin.plugin, int(wrong[0]))
            total += of_plugin.weighted
        return total

    def scores(
        self, state: CycleState, group: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> Sequence[PluginScores] | Status:
        """Return the scores of each plugin for each placement, or an Error.

        Args:
            state: The cycle state of the group.
            group: The group.
            candidates: The placements.
        """
        raw = self._raw(state, group, candidates)
        if isinstance(raw, Status):
            return raw
        placements = [assignments.placement for _, assignments in candidates]
        scores = []
        for call, line in zip(self._calls, raw, strict=True):
            normalized = _normalized(call, state, group, placements, line)
            if isinstance(normalized, Status):
                return normalized
            scores.append(PluginScores(call.plugin, call.weight, line, normalized))
        return scores

    def _raw(
        self, state: CycleState, group: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> Sequence[Int64Array] | Status:
        """Return the raw scores of each plugin."""
        raw = []
        for call in self._calls:
            twin = call.hooks.get("placement_scores")
            if twin is None:
                scores = self._one_by_one(call, group, candidates)
            else:
                placements = [assignments for _, assignments in candidates]
                scores = twin(state, group, self._nodes, placements)
            if isinstance(scores, Status):
                prefix = f'plugin "{call.plugin}" failed with'
                prefix = f"running PlacementScore plugins: {prefix}"
                return failed(prefix, call.plugin, scores)
            raw.append(scores)
        return raw

    def _one_by_one(
        self, call: Call, group: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> Int64Array | Status:
        function = call.hooks["placement_score"]
        scores: Int64Array = np.zeros(len(candidates), dtype=np.int64)
        for place, (state, assignments) in enumerate(candidates):
            score: int | Status = function(state, group, self._nodes, assignments)
            if isinstance(score, Status):
                return score
            scores[place] = score
        return scores


def _normalized(
    call: Call,
    state: CycleState,
    group: PodGroupInfo,
    placements: Sequence[PodGroupPlacement],
    scores: Int64Array,
) -> Int64Array | Status:
    function = call.hooks.get("normalize_placement_score")
    if function is None:
        return scores
    answer: Int64Array | Status | None
    # A view that cannot be written: the raw scores are also kept for the explanation,
    # and a plugin that normalises in place would change them.
    answer = function(state, group, placements, freeze(scores.view()))
    if isinstance(answer, Status):
        prefix = "running NormalizePlacementScore on PlacementScore plugins"
        prefix = f'{prefix}: plugin "{call.plugin}" failed with'
        return failed(prefix, call.plugin, answer)
    return scores if answer is None else answer


def _out_of_range(plugin: str, wrong: int) -> Status:
    return Status.from_error(
        "applying score defaultWeights on PlacementScore plugins: "
        f'plugin "{plugin}" returns an invalid score {wrong}, it should in the range '
        f"of [0, {MAX_SCORE}] after normalizing"
    )
