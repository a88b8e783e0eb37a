"""The taints that the cluster autoscaler writes, and those that it ignores.

Mirrors ``utils/taints/taints.go``.
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import Node, Taint
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = [
    "DELETION_CANDIDATE",
    "TO_BE_DELETED",
    "has_taint",
    "is_starting",
    "lasting_taints",
    "time_of_deletion",
]

TO_BE_DELETED: Final = "ToBeDeletedByClusterAutoscaler"
DELETION_CANDIDATE: Final = "DeletionCandidateOfClusterAutoscaler"

_OF_CONDITIONS: Final = frozenset(
    {
        "NodeWithImpairedVolumes",
        "cloud.google.com/impending-node-termination",
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
    }
)
_STARTUP_PREFIXES: Final = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
)
_STATUS_PREFIX: Final = "status-taint.cluster-autoscaler.kubernetes.io/"


def has_taint(node: Node, key: str) -> bool:
    """Return whether a node has a taint with this key."""
    return any(taint.key == key for taint in node.spec.taints)


def time_of_deletion(node: Node) -> float | None:
    """Return when the autoscaler has marked a node for deletion, or None."""
    for taint in node.spec.taints:
        if taint.key == TO_BE_DELETED and taint.value.isdigit():
            return float(taint.value)
    return None


def is_starting(node: Node, options: ClusterAutoscalerOptions) -> bool:
    """Return whether a node has a taint of nodes that are starting."""
    return any(
        taint.key in options.startup_taints or taint.key.startswith(_STARTUP_PREFIXES)
        for taint in node.spec.taints
    )


def lasting_taints(
    taints: Iterable[Taint], options: ClusterAutoscalerOptions
) -> tuple[Taint, ...]:
    """Return the taints that new nodes of the same group will have, too."""
    passing = {
        TO_BE_DELETED,
        DELETION_CANDIDATE,
        *_OF_CONDITIONS,
        *options.startup_taints,
        *options.status_taints,
    }
    prefixes = (*_STARTUP_PREFIXES, _STATUS_PREFIX)
    return tuple(
        taint
        for taint in taints
        if taint.key not in passing and not taint.key.startswith(prefixes)
    )
