"""Claims of devices, and what is allocated to them.

Mirrors k8s.io/api v0.36, ``resource/v1/types.go``.
"""

from typing import ClassVar

from msgspec import field

from quaymaster._api.objects.affinity import NodeSelector
from quaymaster._api.objects.devices import DeviceSelector, OpaqueDeviceConfiguration
from quaymaster._api.objects.meta import ApiObject, ApiValue, ObjectMeta
from quaymaster._api.objects.numbers import Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time
from quaymaster._api.objects.volumes import JsonObject

__all__ = [
    "AllocatedDeviceStatus",
    "AllocationResult",
    "CapacityRequirements",
    "Condition",
    "DeviceAllocationConfiguration",
    "DeviceAllocationResult",
    "DeviceClaim",
    "DeviceClaimConfiguration",
    "DeviceConstraint",
    "DeviceRequest",
    "DeviceRequestAllocationResult",
    "DeviceSubRequest",
    "DeviceToleration",
    "ExactDeviceRequest",
    "ResourceClaim",
    "ResourceClaimConsumerReference",
    "ResourceClaimSpec",
    "ResourceClaimStatus",
    "ResourceClaimTemplate",
    "ResourceClaimTemplateSpec",
]


class DeviceToleration(ApiValue, frozen=True, kw_only=True):
    """Taints of devices that a request puts up with.

    Attributes:
        key: The taint's key; empty for all.
        operator: ``Exists``, or ``Equal`` (also if empty).
        effect: The taint's effect; empty for all.
        toleration_seconds: For how long; None means for good.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(ApiValue, frozen=True, kw_only=True):
    """How much of a device's capacities is needed, by name."""

    requests: dict[str, Quantity] = {}


class ExactDeviceRequest(ApiValue, frozen=True, kw_only=True):
    """A request for devices of one class.

    Attributes:
        allocation_mode: ``ExactCount`` (also if empty) or ``All``.
        count: How many devices; 0 stands for one in a manifest.
        admin_access: Whether devices that are in use will do.
    """

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(ApiValue, frozen=True, kw_only=True):
    """One of several alternatives; the fields are those of `ExactDeviceRequest`."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(ApiValue, frozen=True, kw_only=True):
    """A request for devices: one, or the first of several that can be met."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(ApiValue, frozen=True, kw_only=True):
    """What the devices of some requests must have in common, or must not.

    Attributes:
        requests: The names of the requests; without any, all of the claim.
        match_attribute: An attribute that has the same value in all of them.
        distinct_attribute: An attribute that has different values.
    """

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(ApiValue, frozen=True, kw_only=True):
    """A configuration for the devices of some requests; without any, of all."""

    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(ApiValue, frozen=True, kw_only=True):
    """The devices that a claim asks for."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(ApiValue, frozen=True, kw_only=True):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(ApiValue, frozen=True, kw_only=True):
    """One device that is allocated to a request.

    Attributes:
        request: The request's name, or ``request/subrequest``.
        share_id: Tells the shares of a device apart that several requests share.
        consumed_capacity: What this share takes of the device's capacities.
        skip_node_operations: What kubelets do not do for the device.
    """

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] = {}
    skip_node_operations: tuple[str, ...] = ()


class DeviceAllocationConfiguration(ApiValue, frozen=True, kw_only=True):
    """A configuration for allocated devices.

    Attributes:
        source: ``FromClass`` or ``FromClaim``.
    """

    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(ApiValue, frozen=True, kw_only=True):
    """The devices of a claim, and their configurations."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(ApiValue, frozen=True, kw_only=True):
    """What a claim got.

    Attributes:
        node_selector: The nodes where it can be used; None means all.
        allocation_timestamp: When it was allocated.
    """

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None


class ResourceClaimConsumerReference(ApiValue, frozen=True, kw_only=True):
    """Names an object that uses a claim, most often a pod."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class Condition(ApiValue, frozen=True, kw_only=True):
    """Something that is true of an object, false of it, or unknown."""

    type: str = ""
    status: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class AllocatedDeviceStatus(ApiValue, frozen=True, kw_only=True):
    """What its driver says of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: JsonObject | None = None
    network_data: JsonObject | None = None


class ResourceClaimStatus(ApiValue, frozen=True, kw_only=True):
    """What a claim got, and who uses it."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(ApiObject, frozen=True, kw_only=True):
    """A claim of devices, which pods name."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaim"

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ApiValue, frozen=True, kw_only=True):
    """What the claims of a template are made of."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(ApiObject, frozen=True, kw_only=True):
    """Makes one claim for each pod that names it."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaimTemplate"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
