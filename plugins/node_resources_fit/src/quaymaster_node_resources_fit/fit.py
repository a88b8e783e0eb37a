"""Keep a pod off nodes without room for its requests; rank the others.

Mirrors ``NodeResourcesFit`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/fit.go``).
"""

from collections.abc import Hashable, Sequence
from typing import Final, Protocol

import numpy as np

from quaymaster import (
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.devices import (
    DeviceTotals,
    ExtendedResources,
    ServedResources,
    may_be_served_by_devices,
)
from quaymaster.hookspecs import PodGroupAssignments
from quaymaster.objects import (
    DeviceClass,
    PodSpec,
    Resources,
    SpecKey,
    is_extended_resource,
    pod_requests,
    score_requests,
)
from quaymaster_node_resources_fit.args import (
    NodeResourcesFitArgs,
    ScoringStrategy,
    ScoringStrategyType,
)
from quaymaster_node_resources_fit.facts import explain_shortages
from quaymaster_node_resources_fit.hints import (
    after_device_class_change,
    after_node_change,
    after_pod_change,
)
from quaymaster_node_resources_fit.least_allocated import LeastAllocated
from quaymaster_node_resources_fit.most_allocated import MostAllocated
from quaymaster_node_resources_fit.placements import placement_score, placement_scores
from quaymaster_node_resources_fit.requested_to_capacity_ratio import (
    RequestedToCapacityRatio,
)
from quaymaster_node_resources_fit.shares import (
    Demands,
    ScoredResources,
    ShareColumns,
    share_columns,
)
from quaymaster_node_resources_fit.shortage import (
    PodRequests,
    find_shortages,
    has_room,
    judge_nodes,
    rejection,
)

__all__ = ["NodeResourcesFit"]

_PRE_FILTER: Final = StateKey[PodRequests](
    "PreFilterNodeResourcesFit",
    missing='error reading "PreFilterNodeResourcesFit" from cycleState: not found',
)
_PRE_SCORE: Final = StateKey[Demands]("PreScoreNodeResourcesFit")


class Strategy(Protocol):
    """Combines the shares of a node's resources into one score from 0 to 100."""

    def score(self, node: NodeInfo, demands: Demands) -> int:
        """Return the score of one node."""

    def score_nodes(self, shares: ShareColumns) -> Int64Array:
        """Return the scores of many nodes, shape ``(N,)``; ``K`` is at least 1."""


class NodeResourcesFit:
    """Compares a pod's requests with the free resources of nodes.

    Args:
        args: The ignored resources, and the scoring strategy.
        handle: The framework.
    """

    Args = NodeResourcesFitArgs
    scope = Scope.NODE
    pod_use = PodUse.SUMS
    reads = (DeviceClass,)

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._kubernetes = handle.kubernetes
        self._served = ExtendedResources(handle.informers)
        scored = args.scoring_strategy.resources
        devices = ServedResources(
            (spec.name for spec in scored),
            self._served,
            handle.shared(DeviceTotals, DeviceTotals),
        )
        self._resources = ScoredResources(scored, devices)
        self._strategy = _make_strategy(args.scoring_strategy)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pods = Change.DELETE | Change.UPDATE_POD_SCALE_DOWN
        nodes = Change.ADD | Change.UPDATE_NODE_ALLOCATABLE
        classes = Change.ADD | Change.UPDATE
        return (
            on_pod.assigned(pods, self._after_pod_change),
            on_pod.target(Change.UPDATE_POD_SCALE_DOWN, self._after_pod_change),
            on_node(nodes, self._after_node_change),
            EventsOf(DeviceClass)(classes, after_device_class_change),
        )

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        # If devices may serve a resource, the result also depends on device classes.
        return _FRAGMENT.of(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> None:
        state[_PRE_FILTER] = PodRequests.of(pod_requests(pod))

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        requests = state[_PRE_FILTER].resources
        if has_room(requests, node):
            return None
        return rejection(
            find_shortages(requests, node, self._is_ignored, self._is_served)
        )

    @hookimpl
    def filter_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        return judge_nodes(
            state[_PRE_FILTER], nodes, rows, self._is_ignored, self._is_served
        )

    @hookimpl
    def explain_filter(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        nodes = self._handle.snapshot.nodes
        return explain_shortages(pod, node, nodes, self._is_ignored, self._is_served)

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> None:
        state[_PRE_SCORE] = self._demands(pod)

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        demands = state.get(_PRE_SCORE) or self._demands(pod)
        return self._strategy.score(node, demands)

    @hookimpl
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        demands = state.get(_PRE_SCORE) or self._demands(pod)
        # A profile may enable Score without PreScore; upstream computes the requests
        # here then, too.
        if not demands.parts:
            return np.zeros(nodes.count(rows), dtype=np.int64)
        if demands.has_devices:
            scores = [self._strategy.score(n, demands) for n in nodes.infos_at(rows)]
            return np.array(scores, dtype=np.int64)
        return self._strategy.score_nodes(share_columns(nodes, rows, demands))

    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        return placement_score(self._resources, nodes, assignments)

    @hookimpl
    def placement_scores(
        self, nodes: NodeTable, candidates: Sequence[PodGroupAssignments]
    ) -> Int64Array:
        return placement_scores(self._resources, nodes, candidates)

    def _is_ignored(self, name: str) -> bool:
        """Whether the filter ignores a resource; only extended ones can be ignored."""
        args = self._args
        # cpu, memory and hugepages cannot be ignored, even if the arguments name them.
        if not is_extended_resource(name):
            return False
        group, _, _ = name.partition("/")
        return name in args.ignored_resources or group in args.ignored_resource_groups

    def _is_served(self, name: str) -> bool:
        """Whether devices of some class serve a resource."""
        return self._served.class_of(name) is not None

    def _after_pod_change(self, pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
        return after_pod_change(pod, old, new, self._kubernetes)

    def _after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        return after_node_change(pod, old, new, self._is_served)

    def _demands(self, pod: Pod) -> Demands:
        """Return the demands; Score calls this only if PreScore is disabled."""
        return self._resources.demands(score_requests(pod))


def _make_strategy(strategy: ScoringStrategy) -> Strategy:
    if strategy.type is ScoringStrategyType.LEAST_ALLOCATED:
        return LeastAllocated()
    if strategy.type is ScoringStrategyType.MOST_ALLOCATED:
        return MostAllocated()
    assert (
        strategy.requested_to_capacity_ratio is not None
    )  # the arguments have been validated
    return RequestedToCapacityRatio(strategy.requested_to_capacity_ratio.shape)


def _fragment(spec: PodSpec) -> Hashable | None:
    pod = Pod(spec=spec)
    requests = pod_requests(pod)
    if any(map(may_be_served_by_devices, requests.scalars)):
        return None
    return _amounts(requests), _amounts(score_requests(pod))


_FRAGMENT: Final = SpecKey(_fragment)


def _amounts(requests: Resources) -> tuple[Hashable, ...]:
    return (
        requests.milli_cpu,
        requests.memory,
        requests.ephemeral_storage,
        tuple(sorted(requests.scalars.items())),
    )
