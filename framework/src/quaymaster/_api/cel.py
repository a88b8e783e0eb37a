"""The CEL environments of device selectors for a version of Kubernetes.

Mirrors ``newCompiler`` of ``cel/compile.go`` (k8s.io/dynamic-resource-allocation
v0.37): a scheduler compiles stored selectors with the features of all gates, the API
server compiles new ones with those of its own gates.
"""

from kubernetes_cel import DeviceEnvironment, device_environment
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["of_new_selectors", "of_stored_selectors"]


def of_stored_selectors(kubernetes: Kubernetes) -> DeviceEnvironment:
    """Return the environment of a scheduler.

    Args:
        kubernetes: Its version.
    """
    return device_environment("1.37" if kubernetes.has("selector-types") else "1.36")


def of_new_selectors(kubernetes: Kubernetes) -> DeviceEnvironment:
    """Return the environment of an API server to which a selector is sent.

    Args:
        kubernetes: Its version.
    """
    if kubernetes.enabled("DRAListTypeAttributes"):
        return of_stored_selectors(kubernetes)
    return device_environment(kubernetes.version, list_attributes=False)
