"""What the containers of a new pod request by the recommendation of an autoscaler.

Mirrors vertical-pod-autoscaler v1.7 (kubernetes/autoscaler), its admission controller:
``GetContainersResources`` of ``resource/pod/recommendation``, and of ``utils/vpa`` the
files ``capping.go`` and ``limit_and_request_scaling.go``. Bounds of LimitRanges for
whole pods are not followed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import (
    Container,
    LimitRange,
    LimitRangeItem,
    PodSpec,
    ResourceRequirements,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.vertical_autoscaling import (
    ContainerResourcePolicy,
    RecommendedContainerResources,
    VerticalPodAutoscaler,
)
from quaymaster._clusters.inmemory.admission.limit_ranges import with_item_defaults

__all__ = ["container_bounds", "with_recommended_resources"]

_CPU: Final = "cpu"
_RESOURCES: Final = (_CPU, "memory")
_ALL_CONTAINERS: Final = "*"
_ZERO: Final = Quantity(0)
_LARGEST: Final = 2**63 - 1

_Amounts = Mapping[str, Quantity]


def with_recommended_resources(
    spec: PodSpec, scaler: VerticalPodAutoscaler, bounds: LimitRangeItem | None = None
) -> PodSpec:
    """Return a pod's spec with the recommended requests; itself if nothing changes.

    Args:
        spec: The spec, with all defaults.
        scaler: The autoscaler.
        bounds: The bounds of containers in the namespace, see `container_bounds`.
    """
    recommendation = scaler.status.recommendation
    by_name: dict[str, RecommendedContainerResources] = {}
    for entry in recommendation.container_recommendations if recommendation else ():
        # The first of several entries for a container counts.
        by_name.setdefault(entry.container_name, entry)
    containers = tuple(
        _recommended(
            container,
            by_name[container.name].target,
            _policy_of(scaler, container.name),
            bounds,
        )
        if container.name in by_name
        else container
        for container in spec.containers
    )
    if containers == spec.containers:
        return spec
    return replace(spec, containers=containers)


def container_bounds(ranges: Iterable[LimitRange]) -> LimitRangeItem | None:
    """Return the strictest bounds of containers in a namespace, or None.

    Mirrors ``GetContainerLimitRangeItem`` of ``utils/limitrange``.
    """
    default: ResourceList = {}
    most: ResourceList = {}
    least: ResourceList = {}
    for limit_range in ranges:
        for item in map(with_item_defaults, limit_range.spec.limits):
            if item.type == "Container":
                default = item.default or default
                for name, amount in item.max.items():
                    most[name] = min(most.get(name, amount), amount)
                for name, amount in item.min.items():
                    least[name] = max(least.get(name, amount), amount)
    if not (default or most or least):
        return None
    return LimitRangeItem(type="Container", default=default, max=most, min=least)


def _policy_of(scaler: VerticalPodAutoscaler, name: str) -> ContainerResourcePolicy:
    policy, default = scaler.spec.resource_policy, ContainerResourcePolicy()
    for entry in policy.container_policies if policy else ():
        # A name of its own wins over ``*``, wherever the two are in the list.
        if entry.container_name == name:
            return entry
        if entry.container_name == _ALL_CONTAINERS:
            default = entry
    return default


def _recommended(
    container: Container,
    target: _Amounts,
    policy: ContainerResourcePolicy,
    bounds: LimitRangeItem | None,
) -> Container:
    controlled = policy.controlled_resources
    names = _RESOURCES if controlled is None else controlled
    if policy.mode == "Off":
        # The recommender leaves these out; here they may be in the input.
        return container
    own, has_limits = container.resources, policy.controlled_values != "RequestsOnly"
    requests = {name: target[name] for name in target if name in names}
    if bounds is not None:
        requests = _within(requests, *_proportional_bounds(own, bounds))
    # The policy comes after the bounds, so it may exceed them; the LimitRange then
    # rejects the pod, as in a cluster.
    requests = _within(requests, policy.min_allowed, policy.max_allowed)
    limits: ResourceList = {}
    if has_limits:
        limits = _proportional_limits(own, requests, bounds)
    else:
        # With RequestsOnly, the limits stay, and no request may exceed its limit.
        requests = _within(requests, {}, own.limits)
    resources = replace(
        own,
        requests={**own.requests, **requests},
        limits={**own.limits, **limits},
    )
    return replace(container, resources=resources)


def _within(amounts: _Amounts, least: _Amounts, most: _Amounts) -> ResourceList:
    """Return amounts within bounds; a bound of 0 counts as none."""
    capped: ResourceList = {}
    for name, amount in amounts.items():
        lower, upper = least.get(name), most.get(name)
        raised = max(amount, lower) if lower else amount
        capped[name] = min(raised, upper) if upper else raised
    return capped


class _Scale(msgspec.Struct, frozen=True):
    """How limits and requests of a container relate: limit is to request as these."""

    limit: Quantity
    request: Quantity

    @classmethod
    def of(
        cls, own: ResourceRequirements, bounds: LimitRangeItem | None, name: str
    ) -> "_Scale":
        default = bounds.default if bounds else {}
        limit = own.limits.get(name) or default.get(name, _ZERO)
        return cls(limit, own.requests.get(name, _ZERO))


def _proportional_limits(
    own: ResourceRequirements, requests: _Amounts, bounds: LimitRangeItem | None
) -> ResourceList:
    """Return limits that relate to the new requests as they did to the old ones."""
    limits: ResourceList = {}
    for name in _RESOURCES:
        scale, request = _Scale.of(own, bounds, name), requests.get(name, _ZERO)
        if not scale.limit or not request:
            continue
        # Guaranteed pods stay guaranteed: rounding could otherwise make the two differ.
        is_equal = scale.request.milli_value == scale.limit.milli_value
        if not scale.request or is_equal:
            limits[name] = request
        else:
            limits[name] = _scaled(name, scale.limit, scale.request, request)
    return limits


def _proportional_bounds(
    own: ResourceRequirements, bounds: LimitRangeItem
) -> tuple[ResourceList, ResourceList]:
    """Return the bounds of requests whose proportional limits are within bounds."""
    least: ResourceList = {}
    most: ResourceList = {}
    for name in _RESOURCES:
        scale = _Scale.of(own, bounds, name)
        if name in bounds.max:
            most[name] = _request_for(name, scale, bounds.max[name])
        if name in bounds.min:
            for_limit = _request_for(name, scale, bounds.min[name])
            least[name] = max(for_limit, bounds.min[name])
    return least, most


def _request_for(name: str, scale: _Scale, limit: Quantity) -> Quantity:
    """Return the request that relates to a limit as before; 0 without a limit."""
    if not scale.limit:
        return _ZERO
    if not scale.request:
        return limit
    return _scaled(name, scale.request, scale.limit, limit)


def _scaled(name: str, amount: Quantity, base: Quantity, result: Quantity) -> Quantity:
    """Return what relates to an amount as a result to its base, rounded down."""
    unit: Callable[[Quantity], int]
    unit = _milli if name == _CPU else _value
    # Go's arithmetic is of 64 bits: a result that does not fit becomes the largest
    # number.
    scaled = min(unit(amount) * unit(result) // unit(base), _LARGEST)
    if name == _CPU:
        return Quantity.from_milli(scaled, amount.format)
    return Quantity.from_value(scaled, amount.format)


def _milli(amount: Quantity) -> int:
    return amount.milli_value


def _value(amount: Quantity) -> int:
    return amount.value
