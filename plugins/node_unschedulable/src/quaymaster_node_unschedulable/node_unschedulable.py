"""Keep pods off cordoned nodes.

A node with ``spec.unschedulable`` accepts only pods that tolerate the taint
``node.kubernetes.io/unschedulable:NoSchedule``. Whether the node really has that taint
does not matter here; TaintToleration evaluates it.

Mirrors ``NodeUnschedulable`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go``).
"""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    QueueingHint,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.hookspecs import since_kubernetes
from quaymaster.objects import Taint, is_tolerated

__all__ = ["NodeUnschedulable"]

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_UNSCHEDULABLE = Status.unresolvable("node(s) were unschedulable")


class NodeUnschedulable:
    """Rejects cordoned nodes for pods that do not tolerate their taint."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Create the plugin, which uses neither arguments nor the framework."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_TAINT, _after_node_change),
            on_pod.target(Change.UPDATE_POD_TOLERATION, _after_toleration_change),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> bool:
        return _tolerates_cordon(pod)

    @hookimpl
    @since_kubernetes("1.37")
    def pre_filter(self) -> None:
        """Do nothing; upstream uses it with a feature gate that is off by default."""

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
        # A copy, because the column changes later and the verdicts may be cached.
        cordoned = nodes.unschedulable[rows].copy()
        return NodeVerdicts.reject_where(cordoned, _UNSCHEDULABLE)

    @hookimpl
    def explain_filter(self) -> Sequence[str]:
        taint = f"{_CORDON.key}:{_CORDON.effect}"
        return [f"the node is cordoned, and the pod does not tolerate {taint}"]


def _tolerates_cordon(pod: Pod) -> bool:
    return is_tolerated(_CORDON, pod.spec.tolerations)


def _after_node_change(_pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """Queue the pod if a node has been uncordoned, or is new and not cordoned."""
    was_closed = old is None or old.spec.unschedulable
    if was_closed and not new.spec.unschedulable:
        return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _after_toleration_change(pod: Pod, _old: Pod, new: Pod) -> QueueingHint:
    """Queue the pod if it has changed itself and tolerates the taint now."""
    if new.uid == pod.uid and _tolerates_cordon(new):
        return QueueingHint.QUEUE
    return QueueingHint.SKIP
