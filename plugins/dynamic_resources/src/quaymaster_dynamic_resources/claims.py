"""Which pods need devices: those with claims, or with resources of a device class.

Mirrors ``preFilterExtendedResources`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go``) in
what makes an extended resource a claim.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster import Pod
from quaymaster.objects import DeviceClass, is_extended_resource

__all__ = ["may_need_devices", "why_devices_are_needed"]

_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def why_devices_are_needed(pod: Pod, classes: Sequence[DeviceClass]) -> str:
    """Say which claims or resources of a pod need devices; empty if none does.

    Args:
        pod: The pod.
        classes: All device classes.
    """
    if pod.spec.resource_claims:
        names = ", ".join(claim.name for claim in pod.spec.resource_claims)
        return f"resource claims ({names})"
    requested = dict.fromkeys(_requested_names(pod))
    if not requested:
        return ""
    backed = {f"{_CLASS_PREFIX}{one.name}" for one in classes} | {
        one.spec.extended_resource_name for one in classes
    }
    names = ", ".join(name for name in requested if name in backed)
    return f"extended resources of device classes ({names})" if names else ""


def may_need_devices(pod: Pod) -> bool:
    """Return whether a pod has claims, or resources that a device class may back."""
    return bool(pod.spec.resource_claims) or any(_requested_names(pod))


def _requested_names(pod: Pod) -> Iterator[str]:
    """Yield the extended resources that the pod's containers request."""
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        for name, amount in container.resources.requests.items():
            is_of_class = name.startswith(_CLASS_PREFIX)
            if amount and (is_of_class or is_extended_resource(name)):
                yield name
