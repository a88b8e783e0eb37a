"""Made by ``python -m tests.hook_types.generate_marks``."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from quaymaster import (
    ClusterEventWithHint,
    CycleState,
    Int64Array,
    NodeInfo,
    NodeStatuses,
    NodeTable,
    NodeVerdicts,
    PermitWait,
    Pod,
    PodUse,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
    QueuedPodInfo,
    Rows,
    Status,
)
from quaymaster.columns import Revised, RowArray
from quaymaster.hookspecs import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
    PodGroupPostFilterResult,
    SortKey,
    Suggestion,
)

_R_co = TypeVar("_R_co", covariant=True)

class _WithNothing(Protocol[_R_co]):
    def __call__(self, plugin: Any, /) -> _R_co: ...

class _WithPod(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod) -> _R_co: ...

class _WithQueued(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, queued: QueuedPodInfo) -> _R_co: ...

class _WithNodesPodState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, pod: Pod, state: CycleState
    ) -> _R_co: ...

class _WithPodState(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, state: CycleState) -> _R_co: ...

class _WithNodesState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, state: CycleState
    ) -> _R_co: ...

class _WithNodesPod(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, nodes: NodeTable, pod: Pod) -> _R_co: ...

class _WithState(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, state: CycleState) -> _R_co: ...

class _WithNodes(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, nodes: NodeTable) -> _R_co: ...

class _WithNodePodPodToAddState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        node: NodeInfo,
        pod: Pod,
        pod_to_add: Pod,
        state: CycleState,
    ) -> _R_co: ...

class _WithPodPodToAddState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, pod_to_add: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodePodState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodePodToAddState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod_to_add: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodePodPodToAdd(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod: Pod, pod_to_add: Pod
    ) -> _R_co: ...

class _WithPodToAddState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod_to_add: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodeState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, state: CycleState
    ) -> _R_co: ...

class _WithPodPodToAdd(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, pod_to_add: Pod) -> _R_co: ...

class _WithNodePod(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, node: NodeInfo, pod: Pod) -> _R_co: ...

class _WithNodePodToAdd(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, node: NodeInfo, pod_to_add: Pod) -> _R_co: ...

class _WithPodToAdd(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod_to_add: Pod) -> _R_co: ...

class _WithNode(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, node: NodeInfo) -> _R_co: ...

class _WithNodePodPodToRemoveState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        node: NodeInfo,
        pod: Pod,
        pod_to_remove: Pod,
        state: CycleState,
    ) -> _R_co: ...

class _WithPodPodToRemoveState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, pod_to_remove: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodePodToRemoveState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod_to_remove: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodePodPodToRemove(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod: Pod, pod_to_remove: Pod
    ) -> _R_co: ...

class _WithPodToRemoveState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod_to_remove: Pod, state: CycleState
    ) -> _R_co: ...

class _WithPodPodToRemove(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, pod_to_remove: Pod) -> _R_co: ...

class _WithNodePodToRemove(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod_to_remove: Pod
    ) -> _R_co: ...

class _WithPodToRemove(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod_to_remove: Pod) -> _R_co: ...

class _WithNodesPodRowsState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        pod: Pod,
        rows: Rows,
        state: CycleState,
    ) -> _R_co: ...

class _WithPodRowsState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, rows: Rows, state: CycleState
    ) -> _R_co: ...

class _WithNodesRowsState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, rows: Rows, state: CycleState
    ) -> _R_co: ...

class _WithNodesPodRows(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, pod: Pod, rows: Rows
    ) -> _R_co: ...

class _WithRowsState(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, rows: Rows, state: CycleState) -> _R_co: ...

class _WithPodRows(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, rows: Rows) -> _R_co: ...

class _WithNodesRows(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, nodes: NodeTable, rows: Rows) -> _R_co: ...

class _WithRows(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, rows: Rows) -> _R_co: ...

class _WithPodStateStatuses(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, state: CycleState, statuses: NodeStatuses
    ) -> _R_co: ...

class _WithStateStatuses(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, state: CycleState, statuses: NodeStatuses
    ) -> _R_co: ...

class _WithPodStatuses(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, statuses: NodeStatuses
    ) -> _R_co: ...

class _WithStatuses(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, statuses: NodeStatuses) -> _R_co: ...

class _WithNodePodStateStatuses(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        node: NodeInfo,
        pod: Pod,
        state: CycleState,
        statuses: NodeStatuses,
    ) -> _R_co: ...

class _WithNodeStateStatuses(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        node: NodeInfo,
        state: CycleState,
        statuses: NodeStatuses,
    ) -> _R_co: ...

class _WithNodePodStatuses(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, pod: Pod, statuses: NodeStatuses
    ) -> _R_co: ...

class _WithNodeStatuses(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node: NodeInfo, statuses: NodeStatuses
    ) -> _R_co: ...

class _WithGroupNodesParentState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        nodes: NodeTable,
        parent: PodGroupPlacement,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupNodesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        nodes: NodeTable,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupParentState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        parent: PodGroupPlacement,
        state: CycleState,
    ) -> _R_co: ...

class _WithNodesParentState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        parent: PodGroupPlacement,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupNodesParent(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        nodes: NodeTable,
        parent: PodGroupPlacement,
    ) -> _R_co: ...

class _WithGroupState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, state: CycleState
    ) -> _R_co: ...

class _WithParentState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, parent: PodGroupPlacement, state: CycleState
    ) -> _R_co: ...

class _WithGroupNodes(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, nodes: NodeTable
    ) -> _R_co: ...

class _WithGroupParent(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, parent: PodGroupPlacement
    ) -> _R_co: ...

class _WithNodesParent(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, parent: PodGroupPlacement
    ) -> _R_co: ...

class _WithGroup(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, group: PodGroupInfo) -> _R_co: ...

class _WithParent(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, parent: PodGroupPlacement) -> _R_co: ...

class _WithGroupProgressState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        progress: PlacementProgress,
        state: CycleState,
    ) -> _R_co: ...

class _WithProgressState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, progress: PlacementProgress, state: CycleState
    ) -> _R_co: ...

class _WithGroupProgress(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, progress: PlacementProgress
    ) -> _R_co: ...

class _WithProgress(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, progress: PlacementProgress) -> _R_co: ...

class _WithAssignmentsGroupNodesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        assignments: PodGroupAssignments,
        group: PodGroupInfo,
        nodes: NodeTable,
        state: CycleState,
    ) -> _R_co: ...

class _WithAssignmentsGroupState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        assignments: PodGroupAssignments,
        group: PodGroupInfo,
        state: CycleState,
    ) -> _R_co: ...

class _WithAssignmentsNodesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        assignments: PodGroupAssignments,
        nodes: NodeTable,
        state: CycleState,
    ) -> _R_co: ...

class _WithAssignmentsGroupNodes(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        assignments: PodGroupAssignments,
        group: PodGroupInfo,
        nodes: NodeTable,
    ) -> _R_co: ...

class _WithAssignmentsState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, assignments: PodGroupAssignments, state: CycleState
    ) -> _R_co: ...

class _WithAssignmentsGroup(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, assignments: PodGroupAssignments, group: PodGroupInfo
    ) -> _R_co: ...

class _WithAssignmentsNodes(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, assignments: PodGroupAssignments, nodes: NodeTable
    ) -> _R_co: ...

class _WithAssignments(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, assignments: PodGroupAssignments
    ) -> _R_co: ...

class _WithCandidatesGroupNodesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        group: PodGroupInfo,
        nodes: NodeTable,
        state: CycleState,
    ) -> _R_co: ...

class _WithCandidatesGroupState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        group: PodGroupInfo,
        state: CycleState,
    ) -> _R_co: ...

class _WithCandidatesNodesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        nodes: NodeTable,
        state: CycleState,
    ) -> _R_co: ...

class _WithCandidatesGroupNodes(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        group: PodGroupInfo,
        nodes: NodeTable,
    ) -> _R_co: ...

class _WithCandidatesState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        state: CycleState,
    ) -> _R_co: ...

class _WithCandidatesGroup(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        group: PodGroupInfo,
    ) -> _R_co: ...

class _WithCandidatesNodes(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        candidates: Sequence[PodGroupAssignments],
        nodes: NodeTable,
    ) -> _R_co: ...

class _WithCandidates(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, candidates: Sequence[PodGroupAssignments]
    ) -> _R_co: ...

class _WithGroupPlacementsScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        placements: Sequence[PodGroupPlacement],
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupPlacementsState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        placements: Sequence[PodGroupPlacement],
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithPlacementsScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        placements: Sequence[PodGroupPlacement],
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupPlacementsScores(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        placements: Sequence[PodGroupPlacement],
        scores: Int64Array,
    ) -> _R_co: ...

class _WithPlacementsState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        placements: Sequence[PodGroupPlacement],
        state: CycleState,
    ) -> _R_co: ...

class _WithScoresState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, scores: Int64Array, state: CycleState
    ) -> _R_co: ...

class _WithGroupPlacements(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        placements: Sequence[PodGroupPlacement],
    ) -> _R_co: ...

class _WithGroupScores(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, scores: Int64Array
    ) -> _R_co: ...

class _WithPlacementsScores(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        placements: Sequence[PodGroupPlacement],
        scores: Int64Array,
    ) -> _R_co: ...

class _WithPlacements(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, placements: Sequence[PodGroupPlacement]
    ) -> _R_co: ...

class _WithScores(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, scores: Int64Array) -> _R_co: ...

class _WithAttemptsGroupPlaceState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        attempts: Sequence[MemberAttempt],
        group: PodGroupInfo,
        place: PlaceGroup,
        state: CycleState,
    ) -> _R_co: ...

class _WithAttemptsGroupState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        attempts: Sequence[MemberAttempt],
        group: PodGroupInfo,
        state: CycleState,
    ) -> _R_co: ...

class _WithGroupPlaceState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        group: PodGroupInfo,
        place: PlaceGroup,
        state: CycleState,
    ) -> _R_co: ...

class _WithAttemptsPlaceState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        attempts: Sequence[MemberAttempt],
        place: PlaceGroup,
        state: CycleState,
    ) -> _R_co: ...

class _WithAttemptsGroupPlace(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        attempts: Sequence[MemberAttempt],
        group: PodGroupInfo,
        place: PlaceGroup,
    ) -> _R_co: ...

class _WithAttemptsState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, attempts: Sequence[MemberAttempt], state: CycleState
    ) -> _R_co: ...

class _WithPlaceState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, place: PlaceGroup, state: CycleState
    ) -> _R_co: ...

class _WithAttemptsGroup(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, attempts: Sequence[MemberAttempt], group: PodGroupInfo
    ) -> _R_co: ...

class _WithGroupPlace(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, group: PodGroupInfo, place: PlaceGroup
    ) -> _R_co: ...

class _WithAttemptsPlace(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, attempts: Sequence[MemberAttempt], place: PlaceGroup
    ) -> _R_co: ...

class _WithAttempts(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, attempts: Sequence[MemberAttempt]
    ) -> _R_co: ...

class _WithPlace(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, place: PlaceGroup) -> _R_co: ...

class _WithNodesPodRowsScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        pod: Pod,
        rows: Rows,
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithNodesPodScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        pod: Pod,
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithPodRowsScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        pod: Pod,
        rows: Rows,
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithNodesRowsScoresState(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        rows: Rows,
        scores: Int64Array,
        state: CycleState,
    ) -> _R_co: ...

class _WithNodesPodRowsScores(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        pod: Pod,
        rows: Rows,
        scores: Int64Array,
    ) -> _R_co: ...

class _WithPodScoresState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, scores: Int64Array, state: CycleState
    ) -> _R_co: ...

class _WithNodesScoresState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, scores: Int64Array, state: CycleState
    ) -> _R_co: ...

class _WithRowsScoresState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, rows: Rows, scores: Int64Array, state: CycleState
    ) -> _R_co: ...

class _WithNodesPodScores(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, pod: Pod, scores: Int64Array
    ) -> _R_co: ...

class _WithPodRowsScores(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, rows: Rows, scores: Int64Array
    ) -> _R_co: ...

class _WithNodesRowsScores(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, rows: Rows, scores: Int64Array
    ) -> _R_co: ...

class _WithPodScores(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, scores: Int64Array) -> _R_co: ...

class _WithNodesScores(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, scores: Int64Array
    ) -> _R_co: ...

class _WithRowsScores(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, rows: Rows, scores: Int64Array) -> _R_co: ...

class _WithNodesPodStateTied(Protocol[_R_co]):
    def __call__(
        self,
        plugin: Any,
        /,
        *,
        nodes: NodeTable,
        pod: Pod,
        state: CycleState,
        tied: RowArray,
    ) -> _R_co: ...

class _WithPodStateTied(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, pod: Pod, state: CycleState, tied: RowArray
    ) -> _R_co: ...

class _WithNodesStateTied(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, state: CycleState, tied: RowArray
    ) -> _R_co: ...

class _WithNodesPodTied(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, pod: Pod, tied: RowArray
    ) -> _R_co: ...

class _WithStateTied(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, state: CycleState, tied: RowArray
    ) -> _R_co: ...

class _WithPodTied(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, pod: Pod, tied: RowArray) -> _R_co: ...

class _WithNodesTied(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, nodes: NodeTable, tied: RowArray
    ) -> _R_co: ...

class _WithTied(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, tied: RowArray) -> _R_co: ...

class _WithNodeNamePodState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node_name: str, pod: Pod, state: CycleState
    ) -> _R_co: ...

class _WithNodeNameState(Protocol[_R_co]):
    def __call__(
        self, plugin: Any, /, *, node_name: str, state: CycleState
    ) -> _R_co: ...

class _WithNodeNamePod(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, node_name: str, pod: Pod) -> _R_co: ...

class _WithNodeName(Protocol[_R_co]):
    def __call__(self, plugin: Any, /, *, node_name: str) -> _R_co: ...

_StartT = TypeVar("_StartT", bound=_WithNothing[None])
_CloseT = TypeVar("_CloseT", bound=_WithNothing[None])
_PreEnqueueT = TypeVar(
    "_PreEnqueueT", bound=_WithPod[Status | None] | _WithNothing[Status | None]
)
_QueueSortT = TypeVar("_QueueSortT", bound=_WithQueued[SortKey] | _WithNothing[SortKey])
_EventsToRegisterT = TypeVar(
    "_EventsToRegisterT", bound=_WithNothing[Iterable[ClusterEventWithHint]]
)
_SignPodT = TypeVar(
    "_SignPodT", bound=_WithPod[Hashable | None] | _WithNothing[Hashable | None]
)
_SkipsDependOnT = TypeVar(
    "_SkipsDependOnT",
    bound=_WithPod[Sequence[Revised] | None] | _WithNothing[Sequence[Revised] | None],
)
_PreFilterT = TypeVar(
    "_PreFilterT",
    bound=_WithNodesPodState[PreFilterResult | Status | None]
    | _WithPodState[PreFilterResult | Status | None]
    | _WithNodesState[PreFilterResult | Status | None]
    | _WithNodesPod[PreFilterResult | Status | None]
    | _WithState[PreFilterResult | Status | None]
    | _WithPod[PreFilterResult | Status | None]
    | _WithNodes[PreFilterResult | Status | None]
    | _WithNothing[PreFilterResult | Status | None],
)
_ExplainPreFilterT = TypeVar(
    "_ExplainPreFilterT",
    bound=_WithPodState[Sequence[str]]
    | _WithState[Sequence[str]]
    | _WithPod[Sequence[str]]
    | _WithNothing[Sequence[str]],
)
_AddPodT = TypeVar(
    "_AddPodT",
    bound=_WithNodePodPodToAddState[Status | None]
    | _WithPodPodToAddState[Status | None]
    | _WithNodePodState[Status | None]
    | _WithNodePodToAddState[Status | None]
    | _WithNodePodPodToAdd[Status | None]
    | _WithPodState[Status | None]
    | _WithPodToAddState[Status | None]
    | _WithNodeState[Status | None]
    | _WithPodPodToAdd[Status | None]
    | _WithNodePod[Status | None]
    | _WithNodePodToAdd[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithPodToAdd[Status | None]
    | _WithNode[Status | None]
    | _WithNothing[Status | None],
)
_RemovePodT = TypeVar(
    "_RemovePodT",
    bound=_WithNodePodPodToRemoveState[Status | None]
    | _WithPodPodToRemoveState[Status | None]
    | _WithNodePodState[Status | None]
    | _WithNodePodToRemoveState[Status | None]
    | _WithNodePodPodToRemove[Status | None]
    | _WithPodState[Status | None]
    | _WithPodToRemoveState[Status | None]
    | _WithNodeState[Status | None]
    | _WithPodPodToRemove[Status | None]
    | _WithNodePod[Status | None]
    | _WithNodePodToRemove[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithPodToRemove[Status | None]
    | _WithNode[Status | None]
    | _WithNothing[Status | None],
)
_FilterT = TypeVar(
    "_FilterT",
    bound=_WithNodePodState[Status | None]
    | _WithPodState[Status | None]
    | _WithNodeState[Status | None]
    | _WithNodePod[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithNode[Status | None]
    | _WithNothing[Status | None],
)
_FilterNodesT = TypeVar(
    "_FilterNodesT",
    bound=_WithNodesPodRowsState[NodeVerdicts | Status | None]
    | _WithNodesPodState[NodeVerdicts | Status | None]
    | _WithPodRowsState[NodeVerdicts | Status | None]
    | _WithNodesRowsState[NodeVerdicts | Status | None]
    | _WithNodesPodRows[NodeVerdicts | Status | None]
    | _WithPodState[NodeVerdicts | Status | None]
    | _WithNodesState[NodeVerdicts | Status | None]
    | _WithRowsState[NodeVerdicts | Status | None]
    | _WithNodesPod[NodeVerdicts | Status | None]
    | _WithPodRows[NodeVerdicts | Status | None]
    | _WithNodesRows[NodeVerdicts | Status | None]
    | _WithState[NodeVerdicts | Status | None]
    | _WithPod[NodeVerdicts | Status | None]
    | _WithNodes[NodeVerdicts | Status | None]
    | _WithRows[NodeVerdicts | Status | None]
    | _WithNothing[NodeVerdicts | Status | None],
)
_ExplainFilterT = TypeVar(
    "_ExplainFilterT",
    bound=_WithNodePodState[Sequence[str]]
    | _WithPodState[Sequence[str]]
    | _WithNodeState[Sequence[str]]
    | _WithNodePod[Sequence[str]]
    | _WithState[Sequence[str]]
    | _WithPod[Sequence[str]]
    | _WithNode[Sequence[str]]
    | _WithNothing[Sequence[str]],
)
_SuggestChangesT = TypeVar(
    "_SuggestChangesT",
    bound=_WithPodState[Sequence[Suggestion]]
    | _WithState[Sequence[Suggestion]]
    | _WithPod[Sequence[Suggestion]]
    | _WithNothing[Sequence[Suggestion]],
)
_FilterPodUseT = TypeVar(
    "_FilterPodUseT", bound=_WithState[PodUse] | _WithNothing[PodUse]
)
_PostFilterT = TypeVar(
    "_PostFilterT",
    bound=_WithPodStateStatuses[PostFilterResult | Status | None]
    | _WithPodState[PostFilterResult | Status | None]
    | _WithStateStatuses[PostFilterResult | Status | None]
    | _WithPodStatuses[PostFilterResult | Status | None]
    | _WithState[PostFilterResult | Status | None]
    | _WithPod[PostFilterResult | Status | None]
    | _WithStatuses[PostFilterResult | Status | None]
    | _WithNothing[PostFilterResult | Status | None],
)
_ExplainPostFilterT = TypeVar(
    "_ExplainPostFilterT",
    bound=_WithNodePodStateStatuses[Sequence[str]]
    | _WithNodePodState[Sequence[str]]
    | _WithPodStateStatuses[Sequence[str]]
    | _WithNodeStateStatuses[Sequence[str]]
    | _WithNodePodStatuses[Sequence[str]]
    | _WithPodState[Sequence[str]]
    | _WithNodeState[Sequence[str]]
    | _WithStateStatuses[Sequence[str]]
    | _WithNodePod[Sequence[str]]
    | _WithPodStatuses[Sequence[str]]
    | _WithNodeStatuses[Sequence[str]]
    | _WithState[Sequence[str]]
    | _WithPod[Sequence[str]]
    | _WithNode[Sequence[str]]
    | _WithStatuses[Sequence[str]]
    | _WithNothing[Sequence[str]],
)
_PlacementGenerateT = TypeVar(
    "_PlacementGenerateT",
    bound=_WithGroupNodesParentState[Sequence[PodGroupPlacement] | Status]
    | _WithGroupNodesState[Sequence[PodGroupPlacement] | Status]
    | _WithGroupParentState[Sequence[PodGroupPlacement] | Status]
    | _WithNodesParentState[Sequence[PodGroupPlacement] | Status]
    | _WithGroupNodesParent[Sequence[PodGroupPlacement] | Status]
    | _WithGroupState[Sequence[PodGroupPlacement] | Status]
    | _WithNodesState[Sequence[PodGroupPlacement] | Status]
    | _WithParentState[Sequence[PodGroupPlacement] | Status]
    | _WithGroupNodes[Sequence[PodGroupPlacement] | Status]
    | _WithGroupParent[Sequence[PodGroupPlacement] | Status]
    | _WithNodesParent[Sequence[PodGroupPlacement] | Status]
    | _WithState[Sequence[PodGroupPlacement] | Status]
    | _WithGroup[Sequence[PodGroupPlacement] | Status]
    | _WithNodes[Sequence[PodGroupPlacement] | Status]
    | _WithParent[Sequence[PodGroupPlacement] | Status]
    | _WithNothing[Sequence[PodGroupPlacement] | Status],
)
_PlacementFeasibleT = TypeVar(
    "_PlacementFeasibleT",
    bound=_WithGroupProgressState[Status | None]
    | _WithGroupState[Status | None]
    | _WithProgressState[Status | None]
    | _WithGroupProgress[Status | None]
    | _WithState[Status | None]
    | _WithGroup[Status | None]
    | _WithProgress[Status | None]
    | _WithNothing[Status | None],
)
_PlacementScoreT = TypeVar(
    "_PlacementScoreT",
    bound=_WithAssignmentsGroupNodesState[int | Status]
    | _WithGroupNodesState[int | Status]
    | _WithAssignmentsGroupState[int | Status]
    | _WithAssignmentsNodesState[int | Status]
    | _WithAssignmentsGroupNodes[int | Status]
    | _WithGroupState[int | Status]
    | _WithNodesState[int | Status]
    | _WithAssignmentsState[int | Status]
    | _WithGroupNodes[int | Status]
    | _WithAssignmentsGroup[int | Status]
    | _WithAssignmentsNodes[int | Status]
    | _WithState[int | Status]
    | _WithGroup[int | Status]
    | _WithNodes[int | Status]
    | _WithAssignments[int | Status]
    | _WithNothing[int | Status],
)
_PlacementScoresT = TypeVar(
    "_PlacementScoresT",
    bound=_WithCandidatesGroupNodesState[Int64Array | Status]
    | _WithGroupNodesState[Int64Array | Status]
    | _WithCandidatesGroupState[Int64Array | Status]
    | _WithCandidatesNodesState[Int64Array | Status]
    | _WithCandidatesGroupNodes[Int64Array | Status]
    | _WithGroupState[Int64Array | Status]
    | _WithNodesState[Int64Array | Status]
    | _WithCandidatesState[Int64Array | Status]
    | _WithGroupNodes[Int64Array | Status]
    | _WithCandidatesGroup[Int64Array | Status]
    | _WithCandidatesNodes[Int64Array | Status]
    | _WithState[Int64Array | Status]
    | _WithGroup[Int64Array | Status]
    | _WithNodes[Int64Array | Status]
    | _WithCandidates[Int64Array | Status]
    | _WithNothing[Int64Array | Status],
)
_NormalizePlacementScoreT = TypeVar(
    "_NormalizePlacementScoreT",
    bound=_WithGroupPlacementsScoresState[Int64Array | Status | None]
    | _WithGroupPlacementsState[Int64Array | Status | None]
    | _WithGroupScoresState[Int64Array | Status | None]
    | _WithPlacementsScoresState[Int64Array | Status | None]
    | _WithGroupPlacementsScores[Int64Array | Status | None]
    | _WithGroupState[Int64Array | Status | None]
    | _WithPlacementsState[Int64Array | Status | None]
    | _WithScoresState[Int64Array | Status | None]
    | _WithGroupPlacements[Int64Array | Status | None]
    | _WithGroupScores[Int64Array | Status | None]
    | _WithPlacementsScores[Int64Array | Status | None]
    | _WithState[Int64Array | Status | None]
    | _WithGroup[Int64Array | Status | None]
    | _WithPlacements[Int64Array | Status | None]
    | _WithScores[Int64Array | Status | None]
    | _WithNothing[Int64Array | Status | None],
)
_PodGroupPostFilterT = TypeVar(
    "_PodGroupPostFilterT",
    bound=_WithAttemptsGroupPlaceState[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsGroupState[PodGroupPostFilterResult | Status | None]
    | _WithGroupPlaceState[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsPlaceState[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsGroupPlace[PodGroupPostFilterResult | Status | None]
    | _WithGroupState[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsState[PodGroupPostFilterResult | Status | None]
    | _WithPlaceState[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsGroup[PodGroupPostFilterResult | Status | None]
    | _WithGroupPlace[PodGroupPostFilterResult | Status | None]
    | _WithAttemptsPlace[PodGroupPostFilterResult | Status | None]
    | _WithState[PodGroupPostFilterResult | Status | None]
    | _WithGroup[PodGroupPostFilterResult | Status | None]
    | _WithAttempts[PodGroupPostFilterResult | Status | None]
    | _WithPlace[PodGroupPostFilterResult | Status | None]
    | _WithNothing[PodGroupPostFilterResult | Status | None],
)
_PreScoreT = TypeVar(
    "_PreScoreT",
    bound=_WithNodesPodRowsState[Status | None]
    | _WithNodesPodState[Status | None]
    | _WithPodRowsState[Status | None]
    | _WithNodesRowsState[Status | None]
    | _WithNodesPodRows[Status | None]
    | _WithPodState[Status | None]
    | _WithNodesState[Status | None]
    | _WithRowsState[Status | None]
    | _WithNodesPod[Status | None]
    | _WithPodRows[Status | None]
    | _WithNodesRows[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithNodes[Status | None]
    | _WithRows[Status | None]
    | _WithNothing[Status | None],
)
_ScoreT = TypeVar(
    "_ScoreT",
    bound=_WithNodePodState[int | Status]
    | _WithPodState[int | Status]
    | _WithNodeState[int | Status]
    | _WithNodePod[int | Status]
    | _WithState[int | Status]
    | _WithPod[int | Status]
    | _WithNode[int | Status]
    | _WithNothing[int | Status],
)
_ScoreNodesT = TypeVar(
    "_ScoreNodesT",
    bound=_WithNodesPodRowsState[Int64Array | Status]
    | _WithNodesPodState[Int64Array | Status]
    | _WithPodRowsState[Int64Array | Status]
    | _WithNodesRowsState[Int64Array | Status]
    | _WithNodesPodRows[Int64Array | Status]
    | _WithPodState[Int64Array | Status]
    | _WithNodesState[Int64Array | Status]
    | _WithRowsState[Int64Array | Status]
    | _WithNodesPod[Int64Array | Status]
    | _WithPodRows[Int64Array | Status]
    | _WithNodesRows[Int64Array | Status]
    | _WithState[Int64Array | Status]
    | _WithPod[Int64Array | Status]
    | _WithNodes[Int64Array | Status]
    | _WithRows[Int64Array | Status]
    | _WithNothing[Int64Array | Status],
)
_NormalizeScoreT = TypeVar(
    "_NormalizeScoreT",
    bound=_WithNodesPodRowsScoresState[Int64Array | Status | None]
    | _WithNodesPodScoresState[Int64Array | Status | None]
    | _WithPodRowsScoresState[Int64Array | Status | None]
    | _WithNodesPodRowsState[Int64Array | Status | None]
    | _WithNodesRowsScoresState[Int64Array | Status | None]
    | _WithNodesPodRowsScores[Int64Array | Status | None]
    | _WithPodScoresState[Int64Array | Status | None]
    | _WithNodesPodState[Int64Array | Status | None]
    | _WithPodRowsState[Int64Array | Status | None]
    | _WithNodesScoresState[Int64Array | Status | None]
    | _WithRowsScoresState[Int64Array | Status | None]
    | _WithNodesRowsState[Int64Array | Status | None]
    | _WithNodesPodScores[Int64Array | Status | None]
    | _WithPodRowsScores[Int64Array | Status | None]
    | _WithNodesPodRows[Int64Array | Status | None]
    | _WithNodesRowsScores[Int64Array | Status | None]
    | _WithPodState[Int64Array | Status | None]
    | _WithScoresState[Int64Array | Status | None]
    | _WithNodesState[Int64Array | Status | None]
    | _WithRowsState[Int64Array | Status | None]
    | _WithPodScores[Int64Array | Status | None]
    | _WithNodesPod[Int64Array | Status | None]
    | _WithPodRows[Int64Array | Status | None]
    | _WithNodesScores[Int64Array | Status | None]
    | _WithRowsScores[Int64Array | Status | None]
    | _WithNodesRows[Int64Array | Status | None]
    | _WithState[Int64Array | Status | None]
    | _WithPod[Int64Array | Status | None]
    | _WithScores[Int64Array | Status | None]
    | _WithNodes[Int64Array | Status | None]
    | _WithRows[Int64Array | Status | None]
    | _WithNothing[Int64Array | Status | None],
)
_BreakTieT = TypeVar(
    "_BreakTieT",
    bound=_WithNodesPodStateTied[int | Status]
    | _WithNodesPodState[int | Status]
    | _WithPodStateTied[int | Status]
    | _WithNodesStateTied[int | Status]
    | _WithNodesPodTied[int | Status]
    | _WithPodState[int | Status]
    | _WithNodesState[int | Status]
    | _WithStateTied[int | Status]
    | _WithNodesPod[int | Status]
    | _WithPodTied[int | Status]
    | _WithNodesTied[int | Status]
    | _WithState[int | Status]
    | _WithPod[int | Status]
    | _WithNodes[int | Status]
    | _WithTied[int | Status]
    | _WithNothing[int | Status],
)
_ReserveT = TypeVar(
    "_ReserveT",
    bound=_WithNodeNamePodState[Status | None]
    | _WithPodState[Status | None]
    | _WithNodeNameState[Status | None]
    | _WithNodeNamePod[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithNodeName[Status | None]
    | _WithNothing[Status | None],
)
_UnreserveT = TypeVar(
    "_UnreserveT",
    bound=_WithNodeNamePodState[None]
    | _WithPodState[None]
    | _WithNodeNameState[None]
    | _WithNodeNamePod[None]
    | _WithState[None]
    | _WithPod[None]
    | _WithNodeName[None]
    | _WithNothing[None],
)
_VerifyReserveT = TypeVar(
    "_VerifyReserveT",
    bound=_WithNodeNamePodState[Sequence[str]]
    | _WithPodState[Sequence[str]]
    | _WithNodeNameState[Sequence[str]]
    | _WithNodeNamePod[Sequence[str]]
    | _WithState[Sequence[str]]
    | _WithPod[Sequence[str]]
    | _WithNodeName[Sequence[str]]
    | _WithNothing[Sequence[str]],
)
_PermitT = TypeVar(
    "_PermitT",
    bound=_WithNodeNamePodState[PermitWait | Status | None]
    | _WithPodState[PermitWait | Status | None]
    | _WithNodeNameState[PermitWait | Status | None]
    | _WithNodeNamePod[PermitWait | Status | None]
    | _WithState[PermitWait | Status | None]
    | _WithPod[PermitWait | Status | None]
    | _WithNodeName[PermitWait | Status | None]
    | _WithNothing[PermitWait | Status | None],
)
_PreBindT = TypeVar(
    "_PreBindT",
    bound=_WithNodeNamePodState[PreBindWait | Status | None]
    | _WithPodState[PreBindWait | Status | None]
    | _WithNodeNameState[PreBindWait | Status | None]
    | _WithNodeNamePod[PreBindWait | Status | None]
    | _WithState[PreBindWait | Status | None]
    | _WithPod[PreBindWait | Status | None]
    | _WithNodeName[PreBindWait | Status | None]
    | _WithNothing[PreBindWait | Status | None],
)
_PreBindPreFlightT = TypeVar(
    "_PreBindPreFlightT",
    bound=_WithNodeNamePodState[PreBindPreFlightResult | Status | None]
    | _WithPodState[PreBindPreFlightResult | Status | None]
    | _WithNodeNameState[PreBindPreFlightResult | Status | None]
    | _WithNodeNamePod[PreBindPreFlightResult | Status | None]
    | _WithState[PreBindPreFlightResult | Status | None]
    | _WithPod[PreBindPreFlightResult | Status | None]
    | _WithNodeName[PreBindPreFlightResult | Status | None]
    | _WithNothing[PreBindPreFlightResult | Status | None],
)
_BindT = TypeVar(
    "_BindT",
    bound=_WithNodeNamePodState[Status | None]
    | _WithPodState[Status | None]
    | _WithNodeNameState[Status | None]
    | _WithNodeNamePod[Status | None]
    | _WithState[Status | None]
    | _WithPod[Status | None]
    | _WithNodeName[Status | None]
    | _WithNothing[Status | None],
)
_PostBindT = TypeVar(
    "_PostBindT",
    bound=_WithNodeNamePodState[None]
    | _WithPodState[None]
    | _WithNodeNameState[None]
    | _WithNodeNamePod[None]
    | _WithState[None]
    | _WithPod[None]
    | _WithNodeName[None]
    | _WithNothing[None],
)

class TypedMarks:
    def start(self, method: _StartT, /) -> _StartT: ...
    def close(self, method: _CloseT, /) -> _CloseT: ...
    def pre_enqueue(self, method: _PreEnqueueT, /) -> _PreEnqueueT: ...
    def queue_sort(self, method: _QueueSortT, /) -> _QueueSortT: ...
    def events_to_register(
        self, method: _EventsToRegisterT, /
    ) -> _EventsToRegisterT: ...
    def sign_pod(self, method: _SignPodT, /) -> _SignPodT: ...
    def skips_depend_on(self, method: _SkipsDependOnT, /) -> _SkipsDependOnT: ...
    def pre_filter(self, method: _PreFilterT, /) -> _PreFilterT: ...
    def explain_pre_filter(
        self, method: _ExplainPreFilterT, /
    ) -> _ExplainPreFilterT: ...
    def add_pod(self, method: _AddPodT, /) -> _AddPodT: ...
    def remove_pod(self, method: _RemovePodT, /) -> _RemovePodT: ...
    def filter(self, method: _FilterT, /) -> _FilterT: ...
    def filter_nodes(self, method: _FilterNodesT, /) -> _FilterNodesT: ...
    def explain_filter(self, method: _ExplainFilterT, /) -> _ExplainFilterT: ...
    def suggest_changes(self, method: _SuggestChangesT, /) -> _SuggestChangesT: ...
    def filter_pod_use(self, method: _FilterPodUseT, /) -> _FilterPodUseT: ...
    def post_filter(self, method: _PostFilterT, /) -> _PostFilterT: ...
    def explain_post_filter(
        self, method: _ExplainPostFilterT, /
    ) -> _ExplainPostFilterT: ...
    def placement_generate(
        self, method: _PlacementGenerateT, /
    ) -> _PlacementGenerateT: ...
    def placement_feasible(
        self, method: _PlacementFeasibleT, /
    ) -> _PlacementFeasibleT: ...
    def placement_score(self, method: _PlacementScoreT, /) -> _PlacementScoreT: ...
    def placement_scores(self, method: _PlacementScoresT, /) -> _PlacementScoresT: ...
    def normalize_placement_score(
        self, method: _NormalizePlacementScoreT, /
    ) -> _NormalizePlacementScoreT: ...
    def pod_group_post_filter(
        self, method: _PodGroupPostFilterT, /
    ) -> _PodGroupPostFilterT: ...
    def pre_score(self, method: _PreScoreT, /) -> _PreScoreT: ...
    def score(self, method: _ScoreT, /) -> _ScoreT: ...
    def score_nodes(self, method: _ScoreNodesT, /) -> _ScoreNodesT: ...
    def normalize_score(self, method: _NormalizeScoreT, /) -> _NormalizeScoreT: ...
    def break_tie(self, method: _BreakTieT, /) -> _BreakTieT: ...
    def reserve(self, method: _ReserveT, /) -> _ReserveT: ...
    def unreserve(self, method: _UnreserveT, /) -> _UnreserveT: ...
    def verify_reserve(self, method: _VerifyReserveT, /) -> _VerifyReserveT: ...
    def permit(self, method: _PermitT, /) -> _PermitT: ...
    def pre_bind(self, method: _PreBindT, /) -> _PreBindT: ...
    def pre_bind_pre_flight(
        self, method: _PreBindPreFlightT, /
    ) -> _PreBindPreFlightT: ...
    def bind(self, method: _BindT, /) -> _BindT: ...
    def post_bind(self, method: _PostBindT, /) -> _PostBindT: ...
