"""The claim that serves the extended resources of a pod, and which nobody wrote.

Mirrors kube-scheduler 1.36.2
(``pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from quaymaster import NodeInfo, Pod
from quaymaster.devices import ExtendedResources, may_be_served_by_devices
from quaymaster.objects import (
    Container,
    ContainerExtendedResourceRequest,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectMeta,
    OwnerReference,
    ResourceClaim,
    ResourceClaimSpec,
    pod_requests,
)

__all__ = [
    "ANNOTATION",
    "Demand",
    "Mappings",
    "NotServedError",
    "demand_on",
    "extended_amounts",
    "is_implicit",
    "make_claim",
    "with_requests",
]

ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
_NAME: Final = "<extended-resources>"
"""The name of the claim while it is in no cluster; no claim can have it there."""

Mappings = tuple[ContainerExtendedResourceRequest, ...]
"""Which request serves which resource of which container."""


class NotServedError(Exception):
    """A resource is offered by neither devices nor the node itself."""


class Demand(NamedTuple):
    """What is asked of devices for extended resources.

    Attributes:
        requests: The requests of the claim.
        mappings: What they are for.
    """

    requests: tuple[DeviceRequest, ...]
    mappings: Mappings


class _Asked(NamedTuple):
    """What one container asks for of one resource.

    Attributes:
        request: The request that it adds; None if it needs none of its own.
        mappings: The requests that serve it.
    """

    request: DeviceRequest | None = None
    mappings: Sequence[ContainerExtendedResourceRequest] = ()


def extended_amounts(
    pod: Pod, resources: ExtendedResources
) -> Mapping[str, int] | None:
    """Return how much a pod requests of what devices may serve.

    Args:
        pod: The pod.
        resources: The classes of devices.

    Returns:
        Resource -> amount, also for those that only nodes offer; None if no class
        stands for any of them.
    """
    amounts = {
        name: amount
        for name, amount in pod_requests(pod).scalars.items()
        if amount and may_be_served_by_devices(name)
    }
    if any(resources.class_of(name) is not None for name in amounts):
        return amounts
    return None


def make_claim(pod: Pod, uid: str) -> ResourceClaim:
    """Make the claim of a pod, without requests: these depend on the node."""
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True
    )
    metadata = ObjectMeta(
        name=_NAME,
        generate_name=f"{pod.name}-extended-resources-",
        namespace=pod.namespace,
        uid=uid,
        annotations={ANNOTATION: "true"},
        owner_references=(owner,),
    )
    return ResourceClaim(metadata=metadata)


def is_implicit(claim: ResourceClaim) -> bool:
    """Return whether a claim is in no cluster yet."""
    return claim.name == _NAME


def demand_on(
    node: NodeInfo,
    pod: Pod,
    amounts: Mapping[str, int],
    resources: ExtendedResources,
) -> Demand | None:
    """Return what a pod asks of devices on a node, which may offer resources itself.

    Args:
        node: The node.
        pod: The pod.
        amounts: Resource -> how much the pod requests of it.
        resources: The classes of devices.

    Returns:
        The demand; None if the node offers everything itself.

    Raises:
        NotServedError: It does not offer something that devices do not serve either.
    """
    offered = node.allocatable.scalars
    served = {}
    for name in amounts:
        device_class = resources.class_of(name)
        if device_class is not None and not offered.get(name):
            served[name] = device_class.name
        elif name not in offered:
            raise NotServedError(name)
    return _demand(pod, served) if served else None


def with_requests(claim: ResourceClaim, demand: Demand) -> ResourceClaim:
    """Return the claim with the requests that a node calls for."""
    devices = DeviceClaim(requests=demand.requests)
    return replace(claim, spec=ResourceClaimSpec(devices=devices))


def _demand(pod: Pod, classes: Mapping[str, str]) -> Demand:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    short = [
        at for at, one in enumerate(pod.spec.init_containers) if not one.is_sidecar
    ]
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(classes):
        asked = [
            _Asked()
            if at in short
            else _ask(at, container, resource, classes[resource], ())
            for at, container in enumerate(containers)
        ]
        long_lived = [one.request for one in asked]
        most, short_mappings = _short_lived(
            short, containers, resource, classes[resource], long_lived
        )
        requests += [one for one in (most, *long_lived) if one is not None]
        mappings += [mapping for one in asked for mapping in one.mappings]
        mappings += short_mappings
    requests.sort(key=lambda request: request.name)
    return Demand(tuple(requests), tuple(mappings))


def _short_lived(
    positions: Iterable[int],
    containers: Sequence[Container],
    resource: str,
    class_name: str,
    long_lived: Sequence[DeviceRequest | None],
) -> tuple[DeviceRequest | None, list[ContainerExtendedResourceRequest]]:
    """What plain init containers ask for: they run one after the other.

    They use the devices of containers that come later, so that only the largest of
    what each of them asks for beyond that is asked for.
    """
    most: DeviceRequest | None = None
    names: set[str] = set()
    mappings: list[ContainerExtendedResourceRequest] = []
    for at in positions:
        reusable = [one for one in long_lived[at:] if one is not None]
        asked = _ask(at, containers[at], resource, class_name, reusable)
        mappings += asked.mappings
        if asked.request is not None:
            names.add(asked.request.name)
            if most is None or _count(most) < _count(asked.request):
                most = asked.request
    if most is not None:
        mappings = [
            replace(one, request_name=most.name) if one.request_name in names else one
            for one in mappings
        ]
    return most, mappings


def _ask(
    at: int,
    container: Container,
    resource: str,
    class_name: str,
    reusable: Sequence[DeviceRequest],
) -> _Asked:
    requested = container.resources.requests
    amount = requested[resource].value if resource in requested else 0
    if not amount:
        return _Asked()
    mappings = []
    found = 0
    for request in reusable:
        found += _count(request)
        mappings.append(_mapping(container, resource, request.name))
        if found >= amount:
            return _Asked(None, mappings)
    name = f"container-{at}-request-{sorted(requested).index(resource)}"
    exactly = ExactDeviceRequest(
        device_class_name=class_name,
        allocation_mode="ExactCount",
        count=amount - found,
    )
    mappings.append(_mapping(container, resource, name))
    return _Asked(DeviceRequest(name=name, exactly=exactly), mappings)


def _mapping(
    container: Container, resource: str, request: str
) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(
        container_name=container.name, resource_name=resource, request_name=request
    )


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None  # these requests are made by `_ask` alone
    return request.exactly.count
