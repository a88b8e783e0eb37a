"""Keep pods off cordoned nodes.

A node with ``spec.unschedulable`` takes only pods that tolerate the taint
``node.kubernetes.io/unschedulable:NoSchedule``. Whether the node really has that taint
does not matter here; TaintToleration looks at it.

Mirrors ``NodeUnschedulable`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go``).
"""

from collections.abc import Sequence

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
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
    Status,
    hookimpl,
)
from quaymaster.arrays import Rows
from quaymaster.objects import ApiObject, Taint
from quaymaster.selectors import is_tolerated

__all__ = ["NodeUnschedulable"]

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_UNSCHEDULABLE = Status.unresolvable("node(s) were unschedulable")

_NODE_OPENED = ClusterEvent(
    EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT
)
_TOLERATION_ADDED = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)


class NodeUnschedulable:
    """Rejects cordoned nodes for pods that do not tolerate the cordon."""

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
    def sign_pod(self, pod: Pod) -> bool:
        return _tolerates_cordon(pod)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        if not node.node.spec.unschedulable or _tolerates_cordon(pod):
            return None
        return _UNSCHEDULABLE

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | None:
        if _tolerates_cordon(pod):
            return None
        # A copy, since the column goes on changing and the verdicts may be kept.
        cordoned = nodes.unschedulable[rows].copy()
        return NodeVerdicts.reject_where(cordoned, _UNSCHEDULABLE)


def _tolerates_cordon(pod: Pod) -> bool:
    return is_tolerated(_CORDON, pod.spec.tolerations)


def _after_node_change(
    _pod: Pod, old: ApiObject | None, new: ApiObject | None
) -> QueueingHint:
    """Queue the pod if a node has been uncordoned, or is new and not cordoned."""
    was_closed = not isinstance(old, Node) or old.spec.unschedulable
    is_closed = isinstance(new, Node) and new.spec.unschedulable
    if was_closed and not is_closed:
        return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _after_toleration_change(
    pod: Pod, _old: ApiObject | None, new: ApiObject | None
) -> QueueingHint:
    """Queue the pod if it is the one that changed, and tolerates the cordon now."""
    if isinstance(new, Pod) and not (new.uid == pod.uid and _tolerates_cordon(new)):
        return QueueingHint.SKIP
    return QueueingHint.QUEUE
