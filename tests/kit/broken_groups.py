"""Plugins for groups of pods with one mistake each, which the contract suite finds."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from quaymaster import (
    Code,
    Handle,
    Int64Array,
    NodeTable,
    NominatingInfo,
    Status,
    hookimpl,
)
from quaymaster.hookspecs import (
    PlacementProgress,
    PodGroupAssignments,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)

__all__ = ["BROKEN_GROUPS", "GroupsAreFine"]


class _ForGroups:
    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle


class GroupsAreFine(_ForGroups):
    """No mistake: a placement for each node, and the hooks that rank them."""

    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        rows = nodes.row_numbers(parent.rows)
        return [
            PodGroupPlacement(name, rows[at : at + 1])
            for at, name in enumerate(nodes.names_at(rows))
        ]

    @hookimpl
    def placement_score(self, assignments: PodGroupAssignments) -> int:
        return len(assignments.attempts)

    @hookimpl
    def placement_scores(self, candidates: Sequence[PodGroupAssignments]) -> Int64Array:
        counts = [len(candidate.attempts) for candidate in candidates]
        return np.array(counts, dtype=np.int64)

    @hookimpl
    def placement_feasible(self, progress: PlacementProgress) -> Status | None:
        if progress.scheduled + progress.remaining < 2:
            return Status.unschedulable("too few pods")
        return None if progress.scheduled > 1 else Status(Code.WAIT, ("not yet",))

    @hookimpl
    def pod_group_post_filter(self) -> Status:
        return Status.unschedulable("nothing helps")


class NamesAllPlacementsAlike(_ForGroups):
    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        rows = nodes.row_numbers(parent.rows)
        return [PodGroupPlacement("rack", rows[at : at + 1]) for at in range(len(rows))]


class IgnoresTheParent(_ForGroups):
    @hookimpl
    def placement_generate(self, nodes: NodeTable) -> Sequence[PodGroupPlacement]:
        return [PodGroupPlacement("all", nodes.rows)]


class NumbersItsPlacements(_ForGroups):
    count: ClassVar[int] = 0

    @hookimpl
    def placement_generate(
        self, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        NumbersItsPlacements.count += 1
        return [PodGroupPlacement(f"place-{self.count}", parent.rows)]


class WritesTheParent(_ForGroups):
    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        for info in nodes.infos_at(parent.rows):
            info.node.metadata.labels["placed"] = "yes"
        return [parent]


class RepeatsNodes(_ForGroups):
    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        rows = nodes.row_numbers(parent.rows)
        return [PodGroupPlacement("all", np.repeat(rows, 2))]


class KeepsItsPlacements(_ForGroups):
    """Remembers the first placements for each parent placement."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.names: dict[tuple[int, ...], str] = {}

    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        rows = nodes.row_numbers(parent.rows)
        labels = [sorted(info.labels) for info in nodes.infos_at(rows)]
        name = self.names.setdefault(tuple(rows.tolist()), f"nodes with {labels}")
        return [PodGroupPlacement(name, rows)]


class ScoresPlacementsHigh(_ForGroups):
    @hookimpl
    def placement_score(self) -> int:
        return 101


class NormalizesPlacementsBelowZero(_ForGroups):
    @hookimpl
    def placement_score(self) -> int:
        return 1

    @hookimpl
    def normalize_placement_score(self, scores: Int64Array) -> Int64Array:
        return -scores


class TwinForgetsPods(_ForGroups):
    @hookimpl
    def placement_score(self, assignments: PodGroupAssignments) -> int:
        return len(assignments.attempts)

    @hookimpl
    def placement_scores(self, candidates: Sequence[PodGroupAssignments]) -> Int64Array:
        return np.zeros(len(candidates), dtype=np.int64)


class FailsOnPlacements(_ForGroups):
    @hookimpl
    def placement_score(self) -> int:
        raise KeyError("rack")


class _AtPermit(_ForGroups):
    """Is enabled at Permit, because ``placement_feasible`` has no point of its own."""

    @hookimpl
    def permit(self) -> None:
        pass


class ChangesItsMind(_AtPermit):
    @hookimpl
    def placement_feasible(self, progress: PlacementProgress) -> Status | None:
        return Status.unschedulable("still many") if progress.remaining else None


class WithdrawsItsConsent(_AtPermit):
    @hookimpl
    def placement_feasible(self, progress: PlacementProgress) -> Status | None:
        return None if progress.remaining else Status.unschedulable("none is left")


class AnswersWithSkip(_AtPermit):
    @hookimpl
    def placement_feasible(self) -> Status | None:
        return Status.skip()


class LeavesNodesEmpty(_ForGroups):
    @hookimpl
    def pod_group_post_filter(self) -> Status:
        for info in self.handle.snapshot:
            for pod in list(info.pods.values()):
                info.remove_pod(pod)
        return Status.unschedulable("all pods are gone")


class NominatesStrangers(_ForGroups):
    @hookimpl
    def pod_group_post_filter(self) -> PodGroupPostFilterResult:
        return PodGroupPostFilterResult(
            nominating={"other/stranger": NominatingInfo("n0")}
        )


BROKEN_GROUPS: Sequence[tuple[type, str, str]] = [
    (NamesAllPlacementsAlike, "placements", "two placements have the name 'rack'"),
    (IgnoresTheParent, "placements", "of placement 'all' is not in the parent"),
    (NumbersItsPlacements, "placements", "as before, with an unchanged cluster"),
    (WritesTheParent, "placements", "placement_generate: changed"),
    (RepeatsNodes, "placements", "placement 'all' has a node twice"),
    (KeepsItsPlacements, "placements", "it keeps data of the earlier cluster"),
    (ScoresPlacementsHigh, "placement scores", "placement_score: 101 for placement"),
    (NormalizesPlacementsBelowZero, "placement scores", "score: -1 for placement"),
    (TwinForgetsPods, "placement scores", "placement_scores: 0 for placement"),
    (FailsOnPlacements, "placement scores", "placement_score: raised KeyError: 'rack'"),
    (ChangesItsMind, "quorum", "was Unschedulable"),
    (WithdrawsItsConsent, "quorum", "expected success as for"),
    (AnswersWithSkip, "quorum", "expected Wait, Unschedulable or Error"),
    (LeavesNodesEmpty, "group rescue", "pod_group_post_filter: changed"),
    (NominatesStrangers, "group rescue", "nominates pod other/stranger, which is not"),
]
"""Plugin, the check that finds its mistake, and a part of the message."""
