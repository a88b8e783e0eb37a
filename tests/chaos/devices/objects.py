"""The devices of the histories, and the claims and requests of pods."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import (
    CapacityRequirements,
    Counter,
    CounterSet,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceCounterConsumption,
    DeviceRequest,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    PodResourceClaim,
    Quantity,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_resource_claim,
    make_resource_claim_template,
    make_resource_slice,
)

__all__ = [
    "BANDWIDTH",
    "BROKEN",
    "DEVICE_TRAITS",
    "KINDS",
    "MEMORY",
    "MODEL",
    "NAMESPACES",
    "READY",
    "RESOURCE",
    "SHARED",
    "TEMPLATES",
    "VARIANTS",
    "class_of",
    "driver_of",
    "new_claim",
    "new_slices",
    "new_template",
    "with_claims",
    "with_taint",
]

KINDS = ("gpu", "part", "nic", "net", "slow")
"""Whole devices, parts of one device, devices that are shared, devices that all nodes
reach, and devices that have to be made ready."""
NAMESPACES = ("default", "other")
RESOURCE = "example.com/gpu"
MODEL = "gpu.example.com/model"
READY, BROKEN = "example.com/ready", "example.com/broken"
BANDWIDTH = 10
"""The bandwidth of a shared device."""
MEMORY = 4
"""The memory that the parts of a device share."""
_SIZES = {"whole": 4, "left": 2, "right": 2}
_SLOW = ("gpu-1", "gpu-3", "net-2")
"""More devices that have to become ready before a pod is bound."""
_TAINT = DeviceTaint(key="example.com/worn", effect="NoSchedule")

VARIANTS: Mapping[str, Sequence[Sequence[str]]] = {
    "gpu": (("gpu-0 a", "gpu-1 b", "gpu-2 a"), ("gpu-0 a", "gpu-1 a"), ("gpu-3 b",)),
    "part": (("whole", "left", "right"), ("left", "right"), ("whole",)),
    "nic": (("nic-0",), ("nic-0", "nic-1"), ("nic-1",)),
    "net": (("net-0", "net-1"), ("net-1",), ("net-1", "net-2")),
    "slow": (("slow-0", "slow-1"), ("slow-0",), ("slow-1",)),
}
"""Kind -> the variants of its devices on a node, or on all nodes for the net."""


def driver_of(kind: str) -> str:
    """Return the driver of a kind of devices."""
    return f"{kind}.example.com"


def class_of(kind: str) -> DeviceClass:
    """Make the class of a kind; one class also serves an extended resource."""
    return make_device_class(
        name=kind,
        selectors=[f"device.driver == '{driver_of(kind)}'"],
        extended_resource_name=RESOURCE if kind == "gpu" else None,
    )


def new_slices(
    kind: str, node: int, generation: int, variant: int
) -> Sequence[ResourceSlice]:
    """Make the two slices of a pool: of a node, or of the net's only pool.

    Args:
        kind: The kind of devices.
        node: The number of the node.
        generation: The pool's generation.
        variant: The variant of the devices, see `VARIANTS`.
    """
    names = VARIANTS[kind][variant]
    is_local = kind != "net"
    made = [_device(kind, name) for name in names]
    # Counters are in their own slice.
    parts = ([], made) if kind == "part" else (made[:1], made[1:])
    slices = [
        make_resource_slice(
            name=f"{kind}-{node}-{index}" if is_local else f"net-{index}",
            driver=driver_of(kind),
            pool=f"pool-{node}" if is_local else "net",
            node=f"node-{node}" if is_local else None,
            devices=devices,
            generation=generation,
            slices=2,
        )
        for index, devices in enumerate(parts)
    ]
    if kind == "part":
        memory = {"memory": Counter(value=Quantity(MEMORY))}
        shared = (CounterSet(name="card", counters=memory),)
        spec = replace(slices[0].spec, shared_counters=shared)
        slices[0] = replace(slices[0], spec=spec)
    return slices


def with_taint(resource_slice: ResourceSlice, is_tainted: bool) -> ResourceSlice:
    """Return a slice with a taint on its first device, or without taints."""
    devices = [replace(device, taints=()) for device in resource_slice.spec.devices]
    if is_tainted:
        devices[:1] = [replace(device, taints=(_TAINT,)) for device in devices[:1]]
    return replace(
        resource_slice, spec=replace(resource_slice.spec, devices=tuple(devices))
    )


def _device(kind: str, words: str) -> Device:
    name, _, model = words.partition(" ")
    device = make_device(name=name, attributes={"model": model} if model else {})
    if kind == "part":
        memory = {"memory": Counter(value=Quantity(_SIZES[name]))}
        taken = DeviceCounterConsumption(counter_set="card", counters=memory)
        return replace(device, consumes_counters=(taken,))
    if kind == "nic":
        device = make_device(name=name, capacity={"bandwidth": BANDWIDTH})
        return replace(device, allow_multiple_allocations=True)
    if name == "net-1":
        device = replace(device, binds_to_node=True)
    if kind == "slow" or name in _SLOW:
        return replace(
            device, binding_conditions=(READY,), binding_failure_conditions=(BROKEN,)
        )
    return device


def _exact(
    kind: str,
    count: int | None = 1,
    bandwidth: int = 0,
    tolerations: Iterable[DeviceToleration] = (),
) -> DeviceRequest:
    amounts = CapacityRequirements(requests={"bandwidth": Quantity(bandwidth)})
    exactly = ExactDeviceRequest(
        device_class_name=kind,
        allocation_mode="All" if count is None else "ExactCount",
        count=count or 0,
        tolerations=tuple(tolerations),
        capacity=amounts if bandwidth else None,
    )
    return DeviceRequest(name=kind, exactly=exactly)


def _first(*wanted: tuple[str, int]) -> DeviceRequest:
    found = tuple(
        DeviceSubRequest(
            name=f"way-{index}",
            device_class_name=kind,
            allocation_mode="ExactCount",
            count=count,
        )
        for index, (kind, count) in enumerate(wanted)
    )
    return DeviceRequest(name="any", first_available=found)


_WORN = DeviceToleration(key=_TAINT.key, operator="Exists")
_REQUESTS: Mapping[str, Sequence[DeviceRequest]] = {
    "gpu": [_exact("gpu")],
    "two": [_exact("gpu", 2)],
    "worn": [_exact("gpu", tolerations=[_WORN])],
    "all": [_exact("gpu", None)],
    "part": [_exact("part")],
    "parts": [_exact("part", 2)],
    "share": [_exact("nic", bandwidth=4)],
    "nic": [_exact("nic")],
    "net": [_exact("net")],
    "slow": [_exact("slow")],
    "mixed": [_exact("gpu"), _exact("nic", bandwidth=3)],
    "first": [_first(("gpu", 3), ("part", 1), ("net", 1))],
}
"""Name -> the requests of a claim; see `DEVICE_TRAITS`."""
_ALIKE = DeviceConstraint(match_attribute=MODEL)

TEMPLATES = tuple(_REQUESTS)
SHARED = ("gpu", "net", "share", "slow", "two")
"""The requests of the claims that pods share."""
DEVICE_TRAITS = (
    *(f"takes {name}" for name in TEMPLATES),
    *(f"uses {name}" for name in SHARED),
    "extended",
    "extended by two",
)


def new_template(name: str, namespace: str) -> ResourceClaimTemplate:
    """Make the template of a name."""
    return make_resource_claim_template(
        name=name,
        namespace=namespace,
        requests=_REQUESTS[name],
        constraints=[_ALIKE] if name == "two" else (),
    )


def new_claim(name: str, namespace: str) -> ResourceClaim:
    """Make the shared claim of a name."""
    made = make_resource_claim(
        name=name,
        namespace=namespace,
        requests=_REQUESTS[name],
        constraints=[_ALIKE] if name == "two" else (),
    )
    return replace(made, metadata=replace(made.metadata, uid=""))


def with_claims(pod: Pod, traits: Iterable[str]) -> Pod:
    """Return a pod with the claims and extended resources of some traits."""
    named: list[PodResourceClaim] = []
    amount = 0
    for trait in traits:
        verb, _, name = trait.partition(" ")
        if verb == "takes":
            named.append(
                PodResourceClaim(name=f"own-{name}", resource_claim_template_name=name)
            )
        elif verb == "uses":
            named.append(PodResourceClaim(name=f"our-{name}", resource_claim_name=name))
        elif verb == "extended":
            amount = 2 if name else 1
    spec = replace(pod.spec, resource_claims=tuple(named))
    if amount:
        (container,) = spec.containers
        more = {RESOURCE: Quantity(amount)}
        resources = replace(
            container.resources,
            requests={**container.resources.requests, **more},
            limits={**container.resources.limits, **more},
        )
        spec = replace(spec, containers=(replace(container, resources=resources),))
    return replace(pod, spec=spec)
