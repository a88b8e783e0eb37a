"""Find the features that a pod needs from its node's kubelet.

Mirrors k8s.io/component-helpers v0.36, ``nodedeclaredfeatures/features``: the features
that matter for placement. Other features of that registry matter only for updates of
running pods.
"""

from collections.abc import Callable
from typing import Final

from quaymaster.objects import PodSpec, SpecKey

__all__ = ["NEEDS", "required_features"]


def required_features(spec: PodSpec) -> frozenset[str]:
    """Return the names of the features that a pod needs, computed once per spec."""
    return _REQUIRED.of_spec(spec)


def _find_features(spec: PodSpec) -> frozenset[str]:
    return frozenset(name for name, is_needed in _RULES.items() if is_needed(spec))


_REQUIRED: Final = SpecKey(_find_features)


def _restarts_all_containers(spec: PodSpec) -> bool:
    """Return whether the exit of one container may restart all of them."""
    return any(
        rule.action == "RestartAllContainers"
        for container in (*spec.containers, *spec.init_containers)
        for rule in container.restart_policy_rules
    )


def _has_own_users_in_host_network(spec: PodSpec) -> bool:
    """Return whether the pod has a user namespace, but uses the node's network."""
    return spec.host_network and spec.host_users is False


_RULES: Final[dict[str, Callable[[PodSpec], bool]]] = {
    "RestartAllContainersOnContainerExits": _restarts_all_containers,
    "UserNamespacesHostNetworkSupport": _has_own_users_in_host_network,
}

NEEDS: Final[dict[str, str]] = {
    "RestartAllContainersOnContainerExits": "a restart rule RestartAllContainers",
    "UserNamespacesHostNetworkSupport": "hostUsers: false with hostNetwork: true",
}
"""Feature -> the part of a pod that needs it."""
