"""Allow only the node that the pod names.

A pod without ``spec.nodeName`` passes on every node.

Mirrors ``NodeName`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodename/node_name.go``).
"""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    PreFilterResult,
    Rows,
    Scope,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.hookspecs import since_kubernetes

__all__ = ["NodeName"]

_OTHER_NODE = Status.unresolvable("node(s) didn't match the requested node name")


class NodeName:
    """Rejects every node except the one that the pod names."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]

    @hookimpl
    def sign_pod(self, pod: Pod) -> str:
        return pod.node_name

    @hookimpl
    @since_kubernetes("1.37")
    def pre_filter(self, pod: Pod) -> PreFilterResult | None:
        return PreFilterResult(frozenset((pod.node_name,))) if pod.node_name else None

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None if pod.node_name in ("", node.name) else _OTHER_NODE

    @hookimpl
    def filter_nodes(
        self, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        if not pod.node_name:
            return None
        row = nodes.row_of(pod.node_name)
        if row is None:
            return _OTHER_NODE
        return NodeVerdicts.reject_where(nodes.row_numbers(rows) != row, _OTHER_NODE)

    @hookimpl
    def explain_filter(self, pod: Pod) -> Sequence[str]:
        node = self._handle.snapshot.get(pod.node_name)
        missing = ", which does not exist" if node is None else ""
        return [f"spec.nodeName is {pod.node_name}{missing}"]
