"""Makers of devices, classes of them, and claims."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from quaymaster._api.objects import (
    AllocationResult,
    ApiObject,
    CELDeviceSelector,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    ExactDeviceRequest,
    Pod,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
    Time,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._authors.testing.makers.metadata import make_metadata, make_uid

__all__ = [
    "make_device",
    "make_device_class",
    "make_device_request",
    "make_device_taint_rule",
    "make_resource_claim",
    "make_resource_claim_template",
    "make_resource_slice",
]

_Attribute: TypeAlias = str | int | bool


def make_device(
    *,
    name: str = "gpu-0",
    attributes: Mapping[str, _Attribute] | None = None,
    capacity: Mapping[str, str | int] | None = None,
    taints: Iterable[DeviceTaint] = (),
) -> Device:
    """Make a device of a slice.

    Args:
        name: Its name.
        attributes: Its properties, each a text, an integer, or true or false.
        capacity: Its capacities, as quantities.
        taints: Its taints.
    """
    return Device(
        name=name,
        attributes={
            key: _attribute(value) for key, value in (attributes or {}).items()
        },
        capacity={
            key: DeviceCapacity(value=Quantity(value))
            for key, value in (capacity or {}).items()
        },
        taints=tuple(taints),
    )


def make_device_class(
    *,
    name: str = "gpu",
    selectors: Iterable[str] = (),
    extended_resource_name: str | None = None,
) -> DeviceClass:
    """Make a class of devices.

    Args:
        name: Its name.
        selectors: Expressions in CEL that are true for its devices.
        extended_resource_name: The extended resource that requests such a device.
    """
    return DeviceClass(
        metadata=make_metadata(DeviceClass, name=name),
        spec=DeviceClassSpec(
            selectors=_selectors(selectors),
            extended_resource_name=extended_resource_name,
        ),
    )


def make_resource_slice(
    *,
    name: str | None = None,
    driver: str = "gpu.example.com",
    pool: str | None = None,
    node: str | None = None,
    devices: int | Iterable[Device] = 1,
    generation: int = 1,
    slices: int = 1,
) -> ResourceSlice:
    """Make a slice of devices that one node reaches, or all nodes.

    Args:
        name: Its name; None is made of its driver and pool.
        driver: The driver.
        pool: The pool; None means one with the node's name, or ``shared``.
        node: The node; None means all nodes.
        devices: The devices, or how many: ``gpu-0`` and so on.
        generation: The pool's generation.
        slices: How many slices the pool has.
    """
    pool = pool or node or "shared"
    name = name or f"{pool}-{driver}"
    if isinstance(devices, int):
        devices = [make_device(name=f"gpu-{index}") for index in range(devices)]
    return ResourceSlice(
        metadata=make_metadata(ResourceSlice, name=name),
        spec=ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(
                name=pool, generation=generation, resource_slice_count=slices
            ),
            node_name=node,
            all_nodes=None if node else True,
            devices=tuple(devices),
        ),
    )


def make_device_taint_rule(
    *,
    name: str = "rule",
    driver: str | None = None,
    pool: str | None = None,
    device: str | None = None,
    key: str = "example.com/unhealthy",
    value: str = "",
    effect: str = "NoSchedule",
    time_added: float | None = None,
) -> DeviceTaintRule:
    """Make a rule that taints all devices with the given names.

    Args:
        name: Its name.
        driver: The driver of the devices; None means any.
        pool: The pool of the devices; None means any.
        device: The name of a device in its pool; None means any.
        key: The taint's key.
        value: The taint's value.
        effect: ``None``, ``NoSchedule`` or ``NoExecute``.
        time_added: Since when the devices have it; None is when the rule is stored.
    """
    return DeviceTaintRule(
        metadata=make_metadata(DeviceTaintRule, name=name),
        spec=DeviceTaintRuleSpec(
            device_selector=DeviceTaintSelector(
                driver=driver, pool=pool, device=device
            ),
            taint=DeviceTaint(
                key=key,
                value=value,
                effect=effect,
                time_added=None if time_added is None else Time(time_added),
            ),
        ),
    )


def make_device_request(
    *,
    name: str = "devices",
    device_class: str = "gpu",
    selectors: Iterable[str] = (),
    count: int | None = 1,
    admin_access: bool | None = None,
    tolerations: Iterable[DeviceToleration] = (),
) -> DeviceRequest:
    """Make a request for devices of one class.

    Args:
        name: Its name.
        device_class: The class.
        selectors: Expressions in CEL that are true for the requested devices.
        count: How many; None means all of them.
        admin_access: Whether devices that are in use may be allocated, too.
        tolerations: The taints that its devices may have.
    """
    return DeviceRequest(
        name=name,
        exactly=ExactDeviceRequest(
            device_class_name=device_class,
            selectors=_selectors(selectors),
            allocation_mode="All" if count is None else "ExactCount",
            count=count or 0,
            admin_access=admin_access,
            tolerations=tuple(tolerations),
        ),
    )


def make_resource_claim(
    *,
    name: str = "claim",
    namespace: str = "default",
    requests: Iterable[DeviceRequest] | None = None,
    constraints: Iterable[DeviceConstraint] = (),
    devices: Iterable[str] = (),
    reserved_for: Iterable[str] = (),
    owner: ApiObject | None = None,
) -> ResourceClaim:
    """Make a claim of devices.

    Args:
        name: Its name.
        namespace: Its namespace.
        requests: Its requests; None means one device of the class ``gpu``.
        constraints: The attributes that the devices must share, or must not.
        devices: The devices allocated to its first request, as ``driver/pool/device``.
        reserved_for: The names of the pods that use it.
        owner: Its controller, such as the pod that it was made for.
    """
    device_requests = (
        tuple(requests) if requests is not None else (make_device_request(),)
    )
    results = tuple(_result(device_requests[0].name, device) for device in devices)
    allocation = None
    if results:
        allocation = AllocationResult(devices=DeviceAllocationResult(results=results))
    return ResourceClaim(
        metadata=make_metadata(
            ResourceClaim, name=name, namespace=namespace, owner=owner
        ),
        spec=_claim_spec(device_requests, constraints),
        status=ResourceClaimStatus(
            allocation=allocation,
            reserved_for=tuple(_consumer(pod, namespace) for pod in reserved_for),
        ),
    )


def make_resource_claim_template(
    *,
    name: str = "template",
    namespace: str = "default",
    requests: Iterable[DeviceRequest] | None = None,
    constraints: Iterable[DeviceConstraint] = (),
) -> ResourceClaimTemplate:
    """Make a template; the arguments are those of `make_resource_claim`."""
    device_requests = (
        tuple(requests) if requests is not None else (make_device_request(),)
    )
    return ResourceClaimTemplate(
        metadata=make_metadata(ResourceClaimTemplate, name=name, namespace=namespace),
        spec=ResourceClaimTemplateSpec(spec=_claim_spec(device_requests, constraints)),
    )


def _claim_spec(
    requests: tuple[DeviceRequest, ...], constraints: Iterable[DeviceConstraint]
) -> ResourceClaimSpec:
    devices = DeviceClaim(requests=requests, constraints=tuple(constraints))
    return ResourceClaimSpec(devices=devices)


def _attribute(value: _Attribute) -> DeviceAttribute:
    if isinstance(value, bool):
        return DeviceAttribute(bool_value=value)
    if isinstance(value, int):
        return DeviceAttribute(int_value=value)
    return DeviceAttribute(string_value=value)


def _selectors(expressions: Iterable[str]) -> tuple[DeviceSelector, ...]:
    return tuple(
        DeviceSelector(cel=CELDeviceSelector(expression=expression))
        for expression in expressions
    )


def _result(request: str, device: str) -> DeviceRequestAllocationResult:
    driver, _, rest = device.partition("/")
    pool, _, name = rest.rpartition("/")
    return DeviceRequestAllocationResult(
        request=request, driver=driver, pool=pool, device=name
    )


def _consumer(pod: str, namespace: str) -> ResourceClaimConsumerReference:
    uid = make_uid(Pod, pod, namespace)
    return ResourceClaimConsumerReference(resource="pods", name=pod, uid=uid)
