"""The names that kubectl accepts for pods and for the workloads that create them."""

from collections.abc import Mapping
from typing import Final

__all__ = ["POD_KINDS", "kind_called", "kind_fits"]

POD_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": ("po",),
    "Deployment": ("deploy",),
    "StatefulSet": ("sts",),
    "DaemonSet": ("ds",),
    "ReplicaSet": ("rs",),
    "ReplicationController": ("rc",),
    "Job": (),
    "CronJob": ("cj",),
}
"""Pods and the workloads of an API server, with their short names."""

_SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    **POD_KINDS,
    "LimitRange": ("limits",),
    "Namespace": ("ns",),
    "Node": ("no",),
    "PersistentVolume": ("pv",),
    "PersistentVolumeClaim": ("pvc",),
    "PodDisruptionBudget": ("pdb",),
    "PriorityClass": ("pc",),
    "ResourceQuota": ("quota",),
    "Service": ("svc",),
    "StorageClass": ("sc",),
}
"""The short names of all kinds that have one."""


def kind_called(word: str) -> str:
    """Return the kind with a name: singular, plural or short, with or without a group.

    Returns:
        The kind, or empty if it is not one of `POD_KINDS`.
    """
    resource = _split(word)[0]
    for kind, short in POD_KINDS.items():
        if resource in (*short, *_names(kind)):
            return kind
    return ""


def kind_fits(word: str, kind: str, api_version: str) -> bool:
    """Whether a word such as ``deployments.apps`` or ``jobset`` names a kind.

    Args:
        word: The name, with or without a group, or a version and a group.
        kind: The kind, such as ``Deployment``.
        api_version: Its group and version, such as ``apps/v1``.
    """
    resource, qualifier = _split(word)
    if resource not in (*_SHORT.get(kind, ()), *_names(kind)):
        return False
    group, _, version = api_version.rpartition("/")
    return qualifier in ("", group, f"{version}.{group}" if group else version)


def _split(word: str) -> tuple[str, str]:
    resource, _, qualifier = word.lower().partition(".")
    return resource, qualifier


def _names(kind: str) -> tuple[str, str]:
    """Return singular and plural of a kind, as for a custom resource."""
    singular = kind.lower()
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular, f"{singular}es"
    if singular.endswith("y"):
        return singular, f"{singular[:-1]}ies"
    return singular, f"{singular}s"
