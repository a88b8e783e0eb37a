"""Taints, of which some vanish when a node has started.

Mirrors ``pkg/scheduling/taints.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import Taint, Toleration
from quaymaster._api.objects.tolerations import is_tolerated

__all__ = [
    "REBOOTING_TAINT",
    "UNREGISTERED_TAINT",
    "is_ephemeral",
    "lasting_taints",
    "tolerates_all",
    "untolerated_text",
]

UNREGISTERED_TAINT: Final = Taint(key="karpenter.sh/unregistered", effect="NoExecute")
REBOOTING_TAINT: Final = Taint(key="karpenter.sh/rebooting", effect="NoSchedule")

# Upstream compares key and effect only (``MatchTaint``).
_EPHEMERAL: Final = frozenset(
    {
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
        (UNREGISTERED_TAINT.key, UNREGISTERED_TAINT.effect),
    }
)
_READINESS: Final = "readiness.k8s.io/"


def is_ephemeral(taint: Taint) -> bool:
    """Return whether a taint vanishes when a node is ready."""
    return (taint.key, taint.effect) in _EPHEMERAL or taint.key.startswith(_READINESS)


def lasting_taints(
    taints: Iterable[Taint], startup_taints: Iterable[Taint]
) -> tuple[Taint, ...]:
    """Return the taints that a node still has when it has started."""
    startup = {(taint.key, taint.effect) for taint in startup_taints}
    startup.add((REBOOTING_TAINT.key, REBOOTING_TAINT.effect))
    return tuple(
        taint
        for taint in taints
        if not is_ephemeral(taint) and (taint.key, taint.effect) not in startup
    )


def tolerates_all(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> bool:
    """Return whether tolerations cover all taints, whatever their effects."""
    return all(
        is_tolerated(taint, tolerations, compares_numbers=True) for taint in taints
    )


def untolerated_text(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> str:
    """Return upstream's error for the taints that are not tolerated, or empty."""
    return "; ".join(
        f"did not tolerate taint (taint={_text(taint)})"
        for taint in taints
        if not is_tolerated(taint, tolerations, compares_numbers=True)
    )


def _text(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
