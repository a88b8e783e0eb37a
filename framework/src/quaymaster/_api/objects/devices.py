"""Devices: the devices that drivers offer, and the classes of devices.

Mirrors k8s.io/api v0.36, ``resource/v1/types.go``; claims are in
`quaymaster._api.objects.device_claims`. Fields of features that are off by default
(attributes that are lists, resources of nodes behind devices) are left out.
"""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import field

from quaymaster._api.objects.affinity import NodeSelector
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time
from quaymaster._api.objects.volumes import JsonObject

__all__ = [
    "CELDeviceSelector",
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceClass",
    "DeviceClassConfiguration",
    "DeviceClassSpec",
    "DeviceCounterConsumption",
    "DeviceSelector",
    "DeviceTaint",
    "OpaqueDeviceConfiguration",
    "ResourcePool",
    "ResourceSlice",
    "ResourceSliceSpec",
]


class CELDeviceSelector(ApiValue, frozen=True, kw_only=True):
    """An expression in CEL that is true for the selected devices."""

    expression: str = ""


class DeviceSelector(ApiValue, frozen=True, kw_only=True):
    """A condition on devices."""

    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(ApiValue, frozen=True, kw_only=True):
    """Parameters that only the driver understands."""

    driver: str = ""
    parameters: JsonObject = {}


class DeviceClassConfiguration(ApiValue, frozen=True, kw_only=True):
    """A configuration that the devices of a class get."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(ApiValue, frozen=True, kw_only=True):
    """The properties that the devices of a class share.

    Attributes:
        selectors: Conditions, all of which its devices meet.
        config: The configurations that its devices get.
        extended_resource_name: A request for this resource is one for such a device.
    """

    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(ApiObject, frozen=True, kw_only=True):
    """A kind of device that pods may claim."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "DeviceClass"
    namespaced: ClassVar[bool] = False

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(ApiValue, frozen=True, kw_only=True):
    """One property of a device: exactly one of the fields is set.

    Lists are fields of the feature gate ``DRAListTypeAttributes``.
    """

    int_value: Int64 | None = field(default=None, name="int")
    bool_value: bool | None = field(default=None, name="bool")
    string_value: str | None = field(default=None, name="string")
    version_value: str | None = field(default=None, name="version")
    int_values: tuple[Int64, ...] | None = field(default=None, name="ints")
    bool_values: tuple[bool, ...] | None = field(default=None, name="bools")
    string_values: tuple[str, ...] | None = field(default=None, name="strings")
    version_values: tuple[str, ...] | None = field(default=None, name="versions")

    def by_field(
        self,
    ) -> dict[str, int | str | Sequence[int] | Sequence[str] | None]:
        """Return all fields by their names in the API, the lists last."""
        return {
            "int": self.int_value,
            "bool": self.bool_value,
            "string": self.string_value,
            "version": self.version_value,
            "ints": self.int_values,
            "bools": self.bool_values,
            "strings": self.string_values,
            "versions": self.version_values,
        }

    @property
    def has_lists(self) -> bool:
        """Whether a field with a list is set."""
        return (
            self.int_values is not None
            or self.bool_values is not None
            or self.string_values is not None
            or self.version_values is not None
        )

    def without_lists(self) -> "DeviceAttribute":
        """Return the attribute without the fields that are lists."""
        return DeviceAttribute(
            int_value=self.int_value,
            bool_value=self.bool_value,
            string_value=self.string_value,
            version_value=self.version_value,
        )


class CapacityRequestPolicyRange(ApiValue, frozen=True, kw_only=True):
    """Amounts from ``min`` to ``max``, in steps from ``min`` on."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(ApiValue, frozen=True, kw_only=True):
    """How much of a capacity one request may take.

    Attributes:
        default: The amount for a request that names none.
        valid_values: The possible amounts, ascending.
        valid_range: The possible amounts, as a range.
    """

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(ApiValue, frozen=True, kw_only=True):
    """How much of a capacity a device has."""

    value: Quantity = Quantity(0)
    request_policy: CapacityRequestPolicy | None = None


class Counter(ApiValue, frozen=True, kw_only=True):
    """An amount that devices share, or the part of it that a device uses."""

    value: Quantity = Quantity(0)


class CounterSet(ApiValue, frozen=True, kw_only=True):
    """Amounts that the devices of a pool share."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(ApiValue, frozen=True, kw_only=True):
    """The part of a counter set that a device uses.

    Attributes:
        compatibility_groups: Of devices that take of one set, all must share a group,
            or none may have any: the feature gate DRADeviceCompatibilityGroups.
    """

    counter_set: str = ""
    counters: dict[str, Counter] = {}
    compatibility_groups: tuple[str, ...] = ()


class DeviceTaint(ApiValue, frozen=True, kw_only=True):
    """A reason not to use a device.

    Attributes:
        effect: ``NoSchedule``, ``NoExecute`` or ``None``.
    """

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class Device(ApiValue, frozen=True, kw_only=True):
    """One device of a slice.

    Attributes:
        name: Its name, unique in its pool.
        attributes: Its properties by name; those without a domain are the driver's.
        capacity: Its capacities, by name.
        consumes_counters: What it uses of the pool's counters while it is allocated.
        node_name: Its node, if the slice leaves that to devices.
        node_selector: The nodes that reach it, likewise.
        all_nodes: Whether all nodes reach it, likewise.
        taints: Reasons not to use it.
        binds_to_node: Whether an allocation is valid on the chosen node alone.
        binding_conditions: Conditions that must be true before a pod is bound.
        binding_failure_conditions: Conditions that end the wait for these.
        allow_multiple_allocations: Whether several requests may share it.
    """

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None


class ResourcePool(ApiValue, frozen=True, kw_only=True):
    """The pool that a slice is a part of.

    Attributes:
        name: Its name, unique for its driver.
        generation: Slices of an older generation no longer count.
        resource_slice_count: How many slices this generation has.
    """

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(ApiValue, frozen=True, kw_only=True):
    """Devices of one driver, and the nodes that reach them.

    Attributes:
        node_name: The one node that reaches them.
        node_selector: The nodes that reach them.
        all_nodes: Whether all nodes do.
        per_device_node_selection: Whether each device has its own nodes.
        shared_counters: Amounts that devices of the pool share.
        skip_node_operations: What kubelets do not do for the devices: the feature gate
            DRAOptionalNodeOperations.
    """

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()
    skip_node_operations: tuple[str, ...] = ()


class ResourceSlice(ApiObject, frozen=True, kw_only=True):
    """Some of the devices that a driver offers."""

    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceSlice"
    namespaced: ClassVar[bool] = False

    spec: ResourceSliceSpec = ResourceSliceSpec()
