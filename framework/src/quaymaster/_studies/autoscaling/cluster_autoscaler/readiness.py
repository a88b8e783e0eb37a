"""Whether a node is ready, and since when.

Mirrors ``GetNodeReadiness`` (``utils/kubernetes/ready.go``).
"""

from typing import Final

from quaymaster._api.objects import Node

__all__ = ["is_ready", "last_change"]

_BAD_WHEN_TRUE: Final = ("DiskPressure", "NetworkUnavailable")
_NOT_READY: Final = frozenset(
    {
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/not-ready",
    }
)


def is_ready(node: Node) -> bool:
    """Return whether a node is ready by its conditions and taints.

    A node without conditions, as in many manifests, is ready.
    """
    for condition in node.status.conditions:
        if condition.type == "Ready" and condition.status in ("False", "Unknown"):
            return False
        if condition.type in _BAD_WHEN_TRUE and condition.status == "True":
            return False
    return not any(taint.key in _NOT_READY for taint in node.spec.taints)


def last_change(node: Node) -> float:
    """Return when the readiness of a node has last changed; 0 if that is unknown."""
    times = [
        float(condition.last_transition_time)
        for condition in node.status.conditions
        if condition.type in ("Ready", *_BAD_WHEN_TRUE)
        and condition.last_transition_time is not None
    ]
    return max(times, default=0.0)
