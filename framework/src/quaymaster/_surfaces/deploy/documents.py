"""The configuration file of a deployment, with its own lease."""

from collections.abc import Mapping
from typing import Any, Final

from quaymaster._core.config.document import API_VERSION, KIND

__all__ = ["UPSTREAM_LEASE", "UPSTREAM_SCHEDULER", "adapted"]

UPSTREAM_SCHEDULER: Final = "default-scheduler"
"""The default scheduler of pods: kube-scheduler, unless it is replaced."""

UPSTREAM_LEASE: Final = ("kube-system", "kube-scheduler")
"""The namespace and the name of its lease."""


def adapted(
    document: object, *, scheduler_name: str, name: str, namespace: str
) -> dict[str, Any]:
    """Return the document of a configuration for a deployment.

    A configuration without a lease gets one with the deployment's name. If it schedules
    the pods of `UPSTREAM_SCHEDULER`, it gets the lease of kube-scheduler, so that the
    two never schedule the same pods at once.

    Args:
        document: The content of the file; None for an empty one.
        scheduler_name: The new name of its profile; empty keeps the name.
        name: The deployment's name.
        namespace: The deployment's namespace.
    """
    tree = dict(document) if isinstance(document, Mapping) else {}
    tree = {"apiVersion": API_VERSION, "kind": KIND, **tree}
    profiles = _profiles(tree)
    if scheduler_name:
        profiles = [{**profiles[0], "schedulerName": scheduler_name}, *profiles[1:]]
        tree["profiles"] = profiles
    names = [profile.get("schedulerName") or UPSTREAM_SCHEDULER for profile in profiles]
    lease = {"resourceName": name, "resourceNamespace": namespace}
    # By sharing its lease, kube-scheduler and this one never schedule the same pods at
    # once, and may take turns.
    if UPSTREAM_SCHEDULER in names:
        namespace, name = UPSTREAM_LEASE
        lease = {"resourceName": name, "resourceNamespace": namespace}
    election = tree.get("leaderElection")
    tree["leaderElection"] = {**lease, **(election or {})}
    return tree


def _profiles(tree: Mapping[str, Any]) -> list[dict[str, Any]]:
    profiles = tree.get("profiles")
    listed = profiles if isinstance(profiles, list) else []
    return [profile for profile in listed if isinstance(profile, dict)] or [{}]
