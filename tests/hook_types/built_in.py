"""Made by ``python -m tests.hook_types.generate``."""

from collections.abc import Hashable, Sequence
from typing import Protocol

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
)
from quaymaster_default_binder import DefaultBinder
from quaymaster_default_preemption import DefaultPreemption
from quaymaster_dynamic_resources import DynamicResources
from quaymaster_gang_scheduling import GangScheduling
from quaymaster_image_locality import ImageLocality
from quaymaster_inter_pod_affinity import InterPodAffinity
from quaymaster_node_affinity import NodeAffinity
from quaymaster_node_cool_down import NodeCoolDown
from quaymaster_node_declared_features import NodeDeclaredFeatures
from quaymaster_node_name import NodeName
from quaymaster_node_ports import NodePorts
from quaymaster_node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from quaymaster_node_resources_fit import NodeResourcesFit
from quaymaster_node_unschedulable import NodeUnschedulable
from quaymaster_node_volume_limits import NodeVolumeLimits
from quaymaster_pod_group_pods_count import PodGroupPodsCount
from quaymaster_pod_topology_spread import PodTopologySpread
from quaymaster_priority_sort import PrioritySort
from quaymaster_scheduling_gates import SchedulingGates
from quaymaster_taint_toleration import TaintToleration
from quaymaster_topology_placement_generator import TopologyPlacementGenerator
from quaymaster_volume_binding import VolumeBinding
from quaymaster_volume_restrictions import VolumeRestrictions
from quaymaster_volume_zone import VolumeZone


class Given(Protocol):
    """The arguments that the framework passes to hooks."""

    pod: Pod
    queued: QueuedPodInfo
    state: CycleState
    nodes: NodeTable
    pod_to_add: Pod
    node: NodeInfo
    pod_to_remove: Pod
    rows: Rows
    statuses: NodeStatuses
    group: PodGroupInfo
    parent: PodGroupPlacement
    progress: PlacementProgress
    assignments: PodGroupAssignments
    candidates: Sequence[PodGroupAssignments]
    placements: Sequence[PodGroupPlacement]
    scores: Int64Array
    attempts: Sequence[MemberAttempt]
    place: PlaceGroup
    tied: RowArray
    node_name: str


def check_default_binder(plugin: DefaultBinder, given: Given) -> None:
    _bind: Status | None = plugin.bind(
        state=given.state, pod=given.pod, node_name=given.node_name
    )


def check_default_preemption(plugin: DefaultPreemption, given: Given) -> None:
    _pre_enqueue: Status | None = plugin.pre_enqueue(pod=given.pod)
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _post_filter: PostFilterResult | Status | None = plugin.post_filter(
        state=given.state, pod=given.pod, statuses=given.statuses
    )
    _explain_post_filter: Sequence[str] = plugin.explain_post_filter(
        state=given.state, pod=given.pod, node=given.node, statuses=given.statuses
    )
    _pod_group_post_filter: PodGroupPostFilterResult | Status | None = (
        plugin.pod_group_post_filter(group=given.group, place=given.place)
    )


def check_dynamic_resources(plugin: DynamicResources, given: Given) -> None:
    plugin.start()
    _pre_enqueue: Status | None = plugin.pre_enqueue(pod=given.pod)
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _filter: Status | None = plugin.filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _post_filter: PostFilterResult | Status | None = plugin.post_filter(
        state=given.state, pod=given.pod
    )
    _pod_group_post_filter: PodGroupPostFilterResult | Status | None = (
        plugin.pod_group_post_filter(group=given.group, attempts=given.attempts)
    )
    _score: int | Status = plugin.score(
        state=given.state, pod=given.pod, node=given.node
    )
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _normalize_score: Int64Array | Status | None = plugin.normalize_score(
        scores=given.scores
    )
    _reserve: Status | None = plugin.reserve(
        state=given.state, pod=given.pod, node_name=given.node_name
    )
    plugin.unreserve(state=given.state, pod=given.pod)
    _verify_reserve: Sequence[str] = plugin.verify_reserve(
        state=given.state, node_name=given.node_name
    )
    _pre_bind: PreBindWait | Status | None = plugin.pre_bind(
        state=given.state, pod=given.pod, node_name=given.node_name
    )
    _pre_bind_pre_flight: PreBindPreFlightResult | Status | None = (
        plugin.pre_bind_pre_flight(state=given.state)
    )


def check_gang_scheduling(plugin: GangScheduling, given: Given) -> None:
    _pre_enqueue: Status | None = plugin.pre_enqueue(pod=given.pod)
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _placement_feasible: Status | None = plugin.placement_feasible(
        group=given.group, progress=given.progress
    )
    _permit: PermitWait | Status | None = plugin.permit(pod=given.pod)


def check_image_locality(plugin: ImageLocality, given: Given) -> None:
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _score: int | Status = plugin.score(pod=given.pod, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )


def check_inter_pod_affinity(plugin: InterPodAffinity, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _skips_depend_on: Sequence[Revised] | None = plugin.skips_depend_on(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    plugin.add_pod(state=given.state, pod_to_add=given.pod_to_add, node=given.node)
    plugin.remove_pod(
        state=given.state, pod_to_remove=given.pod_to_remove, node=given.node
    )
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _pre_score: Status | None = plugin.pre_score(state=given.state, pod=given.pod)
    _score: int | Status = plugin.score(state=given.state, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _normalize_score: Int64Array | Status | None = plugin.normalize_score(
        state=given.state, scores=given.scores
    )


def check_node_affinity(plugin: NodeAffinity, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(pod=given.pod)
    _explain_pre_filter: Sequence[str] = plugin.explain_pre_filter(pod=given.pod)
    _filter: Status | None = plugin.filter(pod=given.pod, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        pod=given.pod, node=given.node
    )
    _pre_score: Status | None = plugin.pre_score(pod=given.pod)
    _score: int | Status = plugin.score(pod=given.pod, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _normalize_score: Int64Array | Status | None = plugin.normalize_score(
        scores=given.scores
    )


def check_node_cool_down(plugin: NodeCoolDown, given: Given) -> None:
    plugin.start()
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _filter: Status | None = plugin.filter(pod=given.pod, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(node=given.node)
    _reserve: Status | None = plugin.reserve(pod=given.pod, node_name=given.node_name)


def check_node_declared_features(plugin: NodeDeclaredFeatures, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, node=given.node
    )


def check_node_name(plugin: NodeName, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(pod=given.pod)
    _filter: Status | None = plugin.filter(pod=given.pod, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(pod=given.pod)


def check_node_ports(plugin: NodePorts, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, node=given.node
    )


def check_node_resources_balanced_allocation(
    plugin: NodeResourcesBalancedAllocation, given: Given
) -> None:
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_score: Status | None = plugin.pre_score(state=given.state, pod=given.pod)
    _score: int | Status = plugin.score(
        state=given.state, pod=given.pod, node=given.node
    )
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )


def check_node_resources_fit(plugin: NodeResourcesFit, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    plugin.pre_filter(state=given.state, pod=given.pod)
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        pod=given.pod, node=given.node
    )
    _placement_score: int | Status = plugin.placement_score(
        nodes=given.nodes, assignments=given.assignments
    )
    _placement_scores: Int64Array | Status = plugin.placement_scores(
        nodes=given.nodes, candidates=given.candidates
    )
    plugin.pre_score(state=given.state, pod=given.pod)
    _score: int | Status = plugin.score(
        state=given.state, pod=given.pod, node=given.node
    )
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )


def check_node_unschedulable(plugin: NodeUnschedulable, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    plugin.pre_filter()
    _filter: Status | None = plugin.filter(pod=given.pod, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter()


def check_node_volume_limits(plugin: NodeVolumeLimits, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _filter: Status | None = plugin.filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _filter_pod_use: PodUse = plugin.filter_pod_use()


def check_pod_group_pods_count(plugin: PodGroupPodsCount, given: Given) -> None:
    _placement_score: int | Status = plugin.placement_score(
        group=given.group, assignments=given.assignments
    )
    _placement_scores: Int64Array | Status = plugin.placement_scores(
        group=given.group, candidates=given.candidates
    )
    _normalize_placement_score: Int64Array | Status | None = (
        plugin.normalize_placement_score(scores=given.scores)
    )


def check_pod_topology_spread(plugin: PodTopologySpread, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _skips_depend_on: Sequence[Revised] | None = plugin.skips_depend_on(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    plugin.add_pod(state=given.state, pod_to_add=given.pod_to_add, node=given.node)
    plugin.remove_pod(
        state=given.state, pod_to_remove=given.pod_to_remove, node=given.node
    )
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _pre_score: Status | None = plugin.pre_score(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _score: int | Status = plugin.score(state=given.state, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, rows=given.rows
    )
    _normalize_score: Int64Array | Status | None = plugin.normalize_score(
        state=given.state, scores=given.scores, rows=given.rows
    )


def check_priority_sort(plugin: PrioritySort, given: Given) -> None:
    _queue_sort: SortKey = plugin.queue_sort(queued=given.queued)


def check_scheduling_gates(plugin: SchedulingGates, given: Given) -> None:
    _pre_enqueue: Status | None = plugin.pre_enqueue(pod=given.pod)
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()


def check_taint_toleration(plugin: TaintToleration, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    plugin.pre_filter()
    _filter: Status | None = plugin.filter(pod=given.pod, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        pod=given.pod, node=given.node
    )
    plugin.pre_score(state=given.state, pod=given.pod)
    _score: int | Status = plugin.score(state=given.state, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _normalize_score: Int64Array | Status | None = plugin.normalize_score(
        scores=given.scores
    )


def check_topology_placement_generator(
    plugin: TopologyPlacementGenerator, given: Given
) -> None:
    _placement_generate: Sequence[PodGroupPlacement] | Status = (
        plugin.placement_generate(
            group=given.group, nodes=given.nodes, parent=given.parent
        )
    )


def check_volume_binding(plugin: VolumeBinding, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _explain_pre_filter: Sequence[str] = plugin.explain_pre_filter(pod=given.pod)
    _filter: Status | None = plugin.filter(state=given.state, node=given.node)
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, node=given.node
    )
    _pre_score: Status | None = plugin.pre_score()
    _score: int | Status = plugin.score(state=given.state, node=given.node)
    _score_nodes: Int64Array | Status = plugin.score_nodes(
        state=given.state, nodes=given.nodes, rows=given.rows
    )
    _reserve: Status | None = plugin.reserve(
        state=given.state, pod=given.pod, node_name=given.node_name
    )
    plugin.unreserve(state=given.state)
    _pre_bind: PreBindWait | Status | None = plugin.pre_bind(
        state=given.state, pod=given.pod, node_name=given.node_name
    )
    _pre_bind_pre_flight: PreBindPreFlightResult | Status | None = (
        plugin.pre_bind_pre_flight(state=given.state, node_name=given.node_name)
    )


def check_volume_restrictions(plugin: VolumeRestrictions, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    plugin.add_pod(state=given.state, pod_to_add=given.pod_to_add)
    plugin.remove_pod(state=given.state, pod_to_remove=given.pod_to_remove)
    _filter: Status | None = plugin.filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        state=given.state, pod=given.pod, node=given.node
    )


def check_volume_zone(plugin: VolumeZone, given: Given) -> None:
    _events_to_register: Sequence[ClusterEventWithHint] = plugin.events_to_register()
    _sign_pod: Hashable | None = plugin.sign_pod(pod=given.pod)
    _pre_filter: PreFilterResult | Status | None = plugin.pre_filter(
        state=given.state, pod=given.pod
    )
    _filter: Status | None = plugin.filter(
        state=given.state, pod=given.pod, node=given.node
    )
    _filter_nodes: NodeVerdicts | Status | None = plugin.filter_nodes(
        state=given.state, pod=given.pod, nodes=given.nodes, rows=given.rows
    )
    _explain_filter: Sequence[str] = plugin.explain_filter(
        pod=given.pod, node=given.node
    )
