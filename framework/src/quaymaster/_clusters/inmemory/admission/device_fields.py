"""Fields of slices that the API server drops while their feature gates are off.

Mirrors ``dropDisabledFields`` (Kubernetes v1.37,
``pkg/registry/resource/resourceslice/strategy.go``).
"""

from msgspec.structs import replace

from quaymaster._api.objects import Device, ResourceSlice
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["without_gated_fields"]


def without_gated_fields(
    resource_slice: ResourceSlice, kubernetes: Kubernetes
) -> ResourceSlice:
    """Return a new slice as the API server reads it."""
    spec = resource_slice.spec
    if not kubernetes.enabled("DRAOptionalNodeOperations"):
        spec = replace(spec, skip_node_operations=())
    devices = spec.devices
    if not kubernetes.enabled("DRADeviceCompatibilityGroups"):
        devices = tuple(map(_without_groups, devices))
    if not kubernetes.enabled("DRAListTypeAttributes"):
        devices = tuple(map(_without_lists, devices))
    # Dropped fields are not reported, as with all disabled fields: an older server
    # would not have read them from the request either.
    spec = replace(spec, devices=devices)
    # Identity: a slice that admission does not change is returned as it is.
    if spec == resource_slice.spec:
        return resource_slice
    return replace(resource_slice, spec=spec)


def _without_groups(device: Device) -> Device:
    if not any(part.compatibility_groups for part in device.consumes_counters):
        return device
    parts = (
        replace(part, compatibility_groups=()) for part in device.consumes_counters
    )
    return replace(device, consumes_counters=tuple(parts))


def _without_lists(device: Device) -> Device:
    attributes = {
        name: attribute.without_lists() for name, attribute in device.attributes.items()
    }
    if attributes == device.attributes:
        return device
    return replace(device, attributes=attributes)
