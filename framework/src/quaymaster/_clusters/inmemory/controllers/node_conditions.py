"""What the conditions and taints of a node say about its health."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from quaymaster._api.objects import Node, Pod, Taint

__all__ = [
    "NOT_READY",
    "UNREACHABLE",
    "HealthObserver",
    "is_not_ready",
    "is_same_taint",
    "no_execute_taints",
    "ready_status",
    "zone_key",
    "zone_of",
]

NOT_READY: Final = Taint(key="node.kubernetes.io/not-ready", effect="NoExecute")
UNREACHABLE: Final = Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")
_REGION_LABELS: Final = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)
_ZONE_LABELS: Final = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)


class HealthObserver(msgspec.Struct, frozen=True, kw_only=True):
    """Receives what happens to the pods of a node that does not answer.

    Attributes:
        deleted: Called with each pod that the cluster deletes because of the lost node.
        told: Called with a notice about everything else that happens.
    """

    deleted: Callable[[Pod], None] = lambda _pod: None
    told: Callable[[str], None] = lambda _text: None


def ready_status(node: Node) -> str | None:
    """Return the status of the condition Ready, or None."""
    for condition in node.status.conditions:
        if condition.type == "Ready":
            return condition.status
    return None


def is_not_ready(node: Node) -> bool:
    """Return whether a node has reported that it is not ready, or is unreachable."""
    # A node without the condition is none of both: inputs often lack conditions.
    return ready_status(node) in ("False", "Unknown")


def no_execute_taints(node: Node | None) -> tuple[Taint, ...]:
    """Return the taints of a node that evict pods."""
    if node is None or not node.spec.taints:
        return ()
    return tuple(taint for taint in node.spec.taints if taint.effect == "NoExecute")


def is_same_taint(taint: Taint, other: Taint) -> bool:
    """Return whether two taints have the same key and effect, as ``MatchTaint``."""
    return taint.key == other.key and taint.effect == other.effect


def zone_of(node: Node) -> str:
    """Return the zone of a node; empty if it has none."""
    return _first_label(node, _ZONE_LABELS)


def zone_key(node: Node) -> str:
    """Return the region and zone of a node, as one text."""
    region, zone = _first_label(node, _REGION_LABELS), zone_of(node)
    # Equal zone names exist in several regions, so both make up the key
    # (``GetZoneKey``).
    return f"{region}/{zone}" if region else zone


def _first_label(node: Node, names: Iterable[str]) -> str:
    return next((node.labels[name] for name in names if name in node.labels), "")
