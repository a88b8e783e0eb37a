"""The implicit claim that serves the extended resources of a pod.

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
"""The claim's name before it is created; no stored claim can have this name."""

Mappings = tuple[ContainerExtendedResourceRequest, ...]
"""The requests that serve each extended resource of each container."""


class NotServedError(Exception):
    """Neither devices nor the node itself offer a resource."""


class Demand(NamedTuple):
    """The device requests for a pod's extended resources on a node.

    Attributes:
        requests: The requests of the claim.
        mappings: The extended resources that they serve.
    """

    requests: tuple[DeviceRequest, ...]
    mappings: Mappings


class _ContainerDemand(NamedTuple):
    """The demand of one container for one resource.

    Attributes:
        request: The additional request, or None if others suffice.
        mappings: The requests that serve the container.
    """

    request: DeviceRequest | None = None
    mappings: Sequence[ContainerExtendedResourceRequest] = ()


def extended_amounts(
    pod: Pod, resources: ExtendedResources
) -> Mapping[str, int] | None:
    """Return a pod's requests for extended resources, if devices may serve any.

    Args:
        pod: The pod.
        resources: The device classes with extended resources.

    Returns:
        Resource -> amount, including resources that only nodes offer; None if no class
        serves any of them.
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
    """Make the implicit claim of a pod, without requests: these depend on the node."""
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
    """Return whether a claim has not been created in the cluster yet."""
    return claim.name == _NAME


def demand_on(
    node: NodeInfo,
    pod: Pod,
    amounts: Mapping[str, int],
    resources: ExtendedResources,
) -> Demand | None:
    """Return a pod's device requests on a node, which may offer resources itself.

    Args:
        node: The node.
        pod: The pod.
        amounts: Resource -> the pod's request.
        resources: The device classes with extended resources.

    Returns:
        The demand, or None if the node offers all resources itself.

    Raises:
        NotServedError: Neither the node nor devices offer a resource.
    """
    offered = node.allocatable.scalars
    served = {}
    for name in amounts:
        device_class = resources.class_of(name)
        # A device plugin has precedence on nodes that report the resource. So a cluster
        # can be migrated node by node.
        if device_class is not None and not offered.get(name):
            served[name] = device_class.name
        elif name not in offered:
            raise NotServedError(name)
    return _demand(pod, served) if served else None


def with_requests(claim: ResourceClaim, demand: Demand) -> ResourceClaim:
    """Return the claim with the requests that the pod has on a node."""
    devices = DeviceClaim(requests=demand.requests)
    return replace(claim, spec=ResourceClaimSpec(devices=devices))


def _demand(pod: Pod, classes: Mapping[str, str]) -> Demand:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    short = [
        at
        for at, container in enumerate(pod.spec.init_containers)
        if not container.is_sidecar
    ]
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    # The names of requests are written into the claim, so their order must not depend
    # on a dict.
    for resource in sorted(classes):
        demands = [
            _ContainerDemand()
            if at in short
            else _ask(at, container, resource, classes[resource], ())
            for at, container in enumerate(containers)
        ]
        long_lived = [demand.request for demand in demands]
        most, short_mappings = _short_lived(
            short, containers, resource, classes[resource], long_lived
        )
        requests += [request for request in (most, *long_lived) if request is not None]
        mappings += [mapping for demand in demands for mapping in demand.mappings]
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
    """Return the largest additional request of plain init containers.

    They run one after the other and may use the devices of later containers. So only
    the largest of their additional requests is needed.
    """
    most: DeviceRequest | None = None
    names: set[str] = set()
    mappings: list[ContainerExtendedResourceRequest] = []
    for at in positions:
        # An init container has ended before later containers start, so it may use their
        # devices. Sidecars before it run on and keep theirs.
        reusable = [request for request in long_lived[at:] if request is not None]
        demand = _ask(at, containers[at], resource, class_name, reusable)
        mappings += demand.mappings
        if demand.request is not None:
            names.add(demand.request.name)
            if most is None or _count(most) < _count(demand.request):
                most = demand.request
    if most is not None:
        mappings = [
            replace(mapping, request_name=most.name)
            if mapping.request_name in names
            else mapping
            for mapping in mappings
        ]
    return most, mappings


def _ask(
    at: int,
    container: Container,
    resource: str,
    class_name: str,
    reusable: Sequence[DeviceRequest],
) -> _ContainerDemand:
    requested = container.resources.requests
    amount = requested[resource].value if resource in requested else 0
    if not amount:
        return _ContainerDemand()
    mappings = []
    reusable_count = 0
    for request in reusable:
        reusable_count += _count(request)
        mappings.append(_mapping(container, resource, request.name))
        if reusable_count >= amount:
            return _ContainerDemand(None, mappings)
    # Upstream's form (``extendeddynamicresources.go``); it is visible in the claim and
    # in the status of the pod.
    name = f"container-{at}-request-{sorted(requested).index(resource)}"
    exactly = ExactDeviceRequest(
        device_class_name=class_name,
        allocation_mode="ExactCount",
        count=amount - reusable_count,
    )
    mappings.append(_mapping(container, resource, name))
    return _ContainerDemand(DeviceRequest(name=name, exactly=exactly), mappings)


def _mapping(
    container: Container, resource: str, request: str
) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(
        container_name=container.name, resource_name=resource, request_name=request
    )


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None  # only `_ask` creates these requests
    return request.exactly.count
