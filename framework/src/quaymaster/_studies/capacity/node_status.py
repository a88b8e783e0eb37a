"""The status of nodes in kubectl's words, and nodes that accept no pods."""

from collections.abc import Iterable
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._clusters.inmemory.controllers.node_conditions import ready_status

__all__ = ["ClosedNode", "closed_nodes", "kubectl_status", "why_closed"]

_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_CLOSING: Final = {
    "node.kubernetes.io/not-ready": "not ready",
    "node.kubernetes.io/unreachable": "unreachable",
    "node.kubernetes.io/out-of-service": "out of service",
    "node.kubernetes.io/network-unavailable": "no network",
    "node.cloudprovider.kubernetes.io/uninitialized": "not initialized",
    "node.cloudprovider.kubernetes.io/shutdown": "shut down",
    "ToBeDeletedByClusterAutoscaler": "being deleted by cluster-autoscaler",
    "karpenter.sh/disrupted": "being deleted by Karpenter",
    "karpenter.sh/disruption": "being deleted by Karpenter",
    "karpenter.sh/unregistered": "not registered",
    "cloud.google.com/impending-node-termination": "about to be terminated",
}
"""Taints of nodes that are not, or no longer, in use -> what they mean."""
_CLOSING_DOMAINS: Final = {
    "aws-node-termination-handler": "about to be terminated",
}
_EFFECTS: Final = ("NoSchedule", "NoExecute")


@attrs.frozen(kw_only=True)
class ClosedNode:
    """A node that accepts no pods.

    Attributes:
        node: Its name.
        status: Its status as ``kubectl get nodes`` prints it.
        why: Why it accepts no pods.
    """

    node: str
    status: str
    why: str


def kubectl_status(node: Node) -> str:
    """Return a node's status as ``kubectl get nodes`` prints it.

    Mirrors ``printNode`` (``pkg/printers/internalversion/printers.go``), except that a
    node without a condition Ready is Ready and not Unknown: the scheduler treats it
    as ready.
    """
    is_ready = ready_status(node) in ("True", None)
    status = "Ready" if is_ready else "NotReady"
    return f"{status},SchedulingDisabled" if node.spec.unschedulable else status


def why_closed(node: Node) -> str:
    """Return why a node accepts no pods, except of DaemonSets; empty if it does.

    Taints that keep a node for some pods, such as those of a control plane or of GPUs,
    do not close it.
    """
    if node.metadata.deletion_timestamp is not None:
        return "being deleted"
    taints = {taint.key for taint in node.spec.taints if taint.effect in _EFFECTS}
    for key in sorted(taints):
        domain = key.partition("/")[0]
        meaning = _CLOSING.get(key) or _CLOSING_DOMAINS.get(domain)
        if meaning:
            return meaning
    status = ready_status(node)
    if status in ("False", "Unknown"):
        return "not ready" if status == "False" else "unreachable"
    return "cordoned" if node.spec.unschedulable or _UNSCHEDULABLE in taints else ""


def closed_nodes(nodes: Iterable[Node]) -> list[ClosedNode]:
    """Return the nodes that accept no pods."""
    reasons = ((node, why_closed(node)) for node in nodes)
    return [
        ClosedNode(node=node.name, status=kubectl_status(node), why=why)
        for node, why in reasons
        if why
    ]
