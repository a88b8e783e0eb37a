"""Claims of devices, and the devices allocated to them.

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
    """The taints of devices that a request tolerates.

    Attributes:
        key: The taint's key; empty for all.
        operator: ``Exists``, or ``Equal`` (also if empty).
        effect: The taint's effect; empty for all.
        toleration_seconds: How long; None means for ever.
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
        count: How many devices; in a manifest, 0 means one.
        admin_access: Whether devices that are in use may be allocated, too.
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
    """A request for devices: one, or the first of several that can be satisfied."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(ApiValue, frozen=True, kw_only=True):
    """The attributes that the devices of some requests must share, or must not.

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
    """The devices that a claim requests."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(ApiValue, frozen=True, kw_only=True):
    """The requests of a claim."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(ApiValue, frozen=True, kw_only=True):
    """One device that is allocated to a request.

    Attributes:
        request: The request's name, or ``request/subrequest``.
        share_id: Distinguishes the shares of a device that several requests use.
        consumed_capacity: The device's capacities that this share uses.
        skip_node_operations: The operations that kubelets skip for the device.
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
    """The devices allocated to a claim.

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
    """A condition of an object: true, false, or unknown."""

    type: str = ""
    status: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class AllocatedDeviceStatus(ApiValue, frozen=True, kw_only=True):
    """The status of an allocated device, as its driver reports it."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: JsonObject | None = None
    network_data: JsonObject | None = None


class ResourceClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The allocation and the users of a claim."""

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
    """The metadata and the spec of the claims of a template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(ApiObject, frozen=True, kw_only=True):
    """Makes one claim for each pod that names it."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaimTemplate"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
