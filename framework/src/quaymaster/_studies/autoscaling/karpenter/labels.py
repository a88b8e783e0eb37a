"""The labels that Karpenter knows.

Mirrors ``pkg/apis/v1/labels.go`` (sigs.k8s.io/karpenter v1.15).
"""

from typing import Final

__all__ = [
    "ARCH",
    "CAPACITY_TYPE",
    "HOSTNAME",
    "INITIALIZED",
    "INSTANCE_TYPE",
    "NODE_POOL",
    "NORMALIZED_LABELS",
    "ON_DEMAND",
    "OS",
    "REGION",
    "REGISTERED",
    "RESERVATION_ID",
    "RESERVED",
    "RESTRICTED_DOMAINS",
    "RESTRICTED_LABELS",
    "SPOT",
    "WELL_KNOWN_LABELS",
    "ZONE",
    "is_restricted",
    "node_class_label",
]

NODE_POOL: Final = "karpenter.sh/nodepool"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
INITIALIZED: Final = "karpenter.sh/initialized"
REGISTERED: Final = "karpenter.sh/registered"
RESERVATION_ID: Final = "karpenter.sh/reservation-id"
"""The label of a capacity reservation; clouds name it otherwise."""

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ARCH: Final = "kubernetes.io/arch"
OS: Final = "kubernetes.io/os"

ON_DEMAND: Final = "on-demand"
RESERVED: Final = "reserved"
SPOT: Final = "spot"

WELL_KNOWN_LABELS: Final = frozenset(
    {
        NODE_POOL,
        ZONE,
        REGION,
        INSTANCE_TYPE,
        ARCH,
        OS,
        CAPACITY_TYPE,
        "node.kubernetes.io/windows-build",
    }
)
"""Labels that each new node may have, whatever its pool says. Clouds add theirs."""

RESTRICTED_LABELS: Final = frozenset({HOSTNAME})
"""Labels that no pool and no pod may require."""

RESTRICTED_DOMAINS: Final = frozenset({"karpenter.sh"})
"""Domains of labels that are not for users. Clouds add theirs."""

NORMALIZED_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
}
"""Old names of labels, and the names that replaced them."""


def is_restricted(
    key: str, well_known: frozenset[str], domains: frozenset[str]
) -> bool:
    """Return whether a label must not be required, as Karpenter itself sets it."""
    if key in well_known:
        return False
    domain, slash, _ = key.partition("/")
    if slash and any(
        domain == restricted or domain.endswith(f".{restricted}")
        for restricted in domains
    ):
        return True
    return key in RESTRICTED_LABELS


def node_class_label(group: str, kind: str) -> str:
    """Return the label that names the node class of a node."""
    return f"{group}/{kind.lower()}"
