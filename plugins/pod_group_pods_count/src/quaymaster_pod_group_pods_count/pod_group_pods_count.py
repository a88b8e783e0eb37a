"""Prefer the placements on which more pods of a group fit.

Mirrors ``PodGroupPodsCount`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/podgrouppodscount/podgroup_pods_count.go``). It is
called only if the feature gate TopologyAwareWorkloadScheduling is on.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster import MAX_NODE_SCORE, Handle, Int64Array, Status, hookimpl
from quaymaster.hookspecs import PodGroupAssignments, PodGroupInfo

__all__ = ["PodGroupPodsCount"]

_NO_PODS: Final = (
    "no pods from pod group are assigned to any of the candidate placements"
)


class PodGroupPodsCount:
    """Scores a placement with the pods of the group that have a node with it.

    Args:
        _args: None; the plugin takes no arguments.
        handle: The framework.
    """

    reads = ()
    writes = ()

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def placement_score(
        self, group: PodGroupInfo, assignments: PodGroupAssignments
    ) -> int:
        # Pods that have a node already are the same in each placement, but weigh in the
        # percentage that normalisation makes of it.
        return self._scheduled(group) + len(assignments.attempts)

    @hookimpl
    def placement_scores(
        self, group: PodGroupInfo, candidates: Sequence[PodGroupAssignments]
    ) -> Int64Array:
        counts = [len(assignments.attempts) for assignments in candidates]
        scores: Int64Array = np.array(counts, dtype=np.int64)
        scores += self._scheduled(group)
        return scores

    @hookimpl
    def normalize_placement_score(self, scores: Int64Array) -> Int64Array | Status:
        highest = int(scores.max())
        if highest <= 0:
            return Status.from_error(_NO_PODS)
        normalized: Int64Array = scores * MAX_NODE_SCORE // highest
        return normalized

    def _scheduled(self, group: PodGroupInfo) -> int:
        """Return the number of pods of a group, or below it, that have a node."""
        groups = self._handle.pod_groups
        leaves = () if groups is None else groups.leaves(group.group)
        return sum(leaf.scheduled_count for leaf in leaves)
