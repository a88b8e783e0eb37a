"""Keep pods off nodes whose taints they do not tolerate.

A taint with the effect NoSchedule or NoExecute that no toleration covers rejects its
node. Among the others, those with the fewest untolerated PreferNoSchedule taints are
the best; only tolerations with that effect, or with none, count here.

Mirrors ``TaintToleration`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go``).
"""

from collections.abc import Hashable, Sequence

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EventResource,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    QueueingHint,
    Scope,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.arrays import Int64Array, Rows
from quaymaster.objects import ApiObject, Taint, Toleration
from quaymaster.scores import default_normalize
from quaymaster.selectors import find_untolerated_taint, is_tolerated

__all__ = ["TaintToleration"]

_PREFER_NO_SCHEDULE = "PreferNoSchedule"
_SOFT_TOLERATIONS = StateKey[Sequence[Toleration]](
    "PreScoreTaintToleration",
    missing='failed to read "PreScoreTaintToleration" from cycleState: not found',
)

_UNTOLERATED = Status.unresolvable("node(s) had untolerated taint(s)")

_NODE_OPENED = ClusterEvent(
    EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT
)
_TOLERATION_ADDED = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)


class TaintToleration:
    """Rejects nodes with untolerated taints, and prefers those with few soft ones."""

    scope = Scope.NODE
    pod_use = PodUse.NONE

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Take no arguments, and need nothing of the framework."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(_NODE_OPENED, _after_node_change),
            ClusterEventWithHint(_TOLERATION_ADDED, _after_toleration_change),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return frozenset(
            (toleration.key, toleration.operator, toleration.value, toleration.effect)
            for toleration in pod.spec.tolerations
        )

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return _UNTOLERATED if _is_closed(node.taints, pod) else None

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        closed = nodes.taints.test(lambda taints: _is_closed(taints or (), pod), rows)
        return NodeVerdicts.reject_where(closed, _UNTOLERATED)

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> None:
        state[_SOFT_TOLERATIONS] = tuple(
            toleration
            for toleration in pod.spec.tolerations
            if toleration.effect in ("", _PREFER_NO_SCHEDULE)
        )

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        return _count_soft(node.taints, state[_SOFT_TOLERATIONS])

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        tolerations = state[_SOFT_TOLERATIONS]
        return nodes.taints.map(
            lambda taints: _count_soft(taints or (), tolerations), rows
        )

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return default_normalize(scores, reverse=True)


def _is_closed(taints: Sequence[Taint], pod: Pod) -> bool:
    return find_untolerated_taint(taints, pod.spec.tolerations) is not None


def _count_soft(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> int:
    return sum(
        taint.effect == _PREFER_NO_SCHEDULE and not is_tolerated(taint, tolerations)
        for taint in taints
    )


def _after_node_change(
    pod: Pod, old: ApiObject | None, new: ApiObject | None
) -> QueueingHint:
    """Queue the pod if a node has become tolerable, or is new and tolerable."""
    was_closed = not isinstance(old, Node) or _is_closed(old.spec.taints, pod)
    is_closed = isinstance(new, Node) and _is_closed(new.spec.taints, pod)
    if was_closed and not is_closed:
        return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _after_toleration_change(
    pod: Pod, _old: ApiObject | None, new: ApiObject | None
) -> QueueingHint:
    """Queue the pod if it is the one that changed, whatever it tolerates now."""
    if isinstance(new, Pod) and new.uid != pod.uid:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE
