"""The configuration file of a deployment: the given one, with the lease of its own."""

from collections.abc import Mapping
from typing import Any, Final

from quaymaster._core.config.document import API_VERSION, KIND
from quaymaster._core.config.yaml_file import read_yaml

__all__ = ["CONFIG_KEY", "UPSTREAM_LEASE", "UPSTREAM_SCHEDULER", "adapted", "unwrapped"]

UPSTREAM_SCHEDULER: Final = "default-scheduler"
"""The scheduler of pods that name none: kube-scheduler, unless it is replaced."""

UPSTREAM_LEASE: Final = ("kube-system", "kube-scheduler")
"""The namespace and the name of its lease."""

CONFIG_KEY: Final = "config.yaml"
"""What a ConfigMap has the configuration under."""


def adapted(
    document: object, *, scheduler_name: str, name: str, namespace: str
) -> dict[str, Any]:
    """The document of a configuration, as it is to be deployed.

    A configuration that says nothing of its lease gets one by the deployment's name.
    If it is for the pods of `UPSTREAM_SCHEDULER`, that is the lease of kube-scheduler,
    so that the two never schedule the same pods at once.

    Args:
        document: What the file holds; None for an empty one.
        scheduler_name: The name of its one profile; empty leaves it.
        name: The deployment's name.
        namespace: The deployment's namespace.
    """
    tree = dict(document) if isinstance(document, Mapping) else {}
    tree = {"apiVersion": API_VERSION, "kind": KIND, **tree}
    profiles = _profiles(tree)
    if scheduler_name:
        profiles = [{**profiles[0], "schedulerName": scheduler_name}, *profiles[1:]]
        tree["profiles"] = profiles
    names = [one.get("schedulerName") or UPSTREAM_SCHEDULER for one in profiles]
    lease = {"resourceName": name, "resourceNamespace": namespace}
    if UPSTREAM_SCHEDULER in names:
        namespace, name = UPSTREAM_LEASE
        lease = {"resourceName": name, "resourceNamespace": namespace}
    election = tree.get("leaderElection")
    tree["leaderElection"] = {**lease, **(election or {})}
    return tree


def unwrapped(document: object, source: str) -> object:
    """The configuration in a ConfigMap; any other document as it is.

    Args:
        document: What a file holds.
        source: Its name, for messages.

    Raises:
        ConfigErrors: What the ConfigMap holds is no YAML.
    """
    if not isinstance(document, Mapping) or document.get("kind") != "ConfigMap":
        return document
    data = document.get("data")
    text = data.get(CONFIG_KEY, "") if isinstance(data, Mapping) else ""
    return read_yaml(str(text).encode(), f"{source}: data[{CONFIG_KEY!r}]")


def _profiles(tree: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = tree.get("profiles")
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, dict)] or [{}]
