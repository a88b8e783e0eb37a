"""The exact requests and limits of pods, resizes under way included.

Mirrors ``PodRequests`` and ``PodLimits`` (Kubernetes v1.36,
``component-helpers/resource/helpers.go``), with the feature gates at their defaults.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._objects import (
    Container,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
)
from quaymaster._objects.quantity import Quantity, ResourceList
from quaymaster._objects.resource_names import CPU, HUGE_PAGES, MEMORY

__all__ = [
    "has_pod_level_requests",
    "pod_limit_list",
    "pod_request_list",
    "status_changes_requests",
]

_ZERO: Final = Quantity(0)


def pod_request_list(
    pod: Pod,
    *,
    use_status: bool = False,
    pod_level: bool = True,
    overhead: bool = True,
    missing: Mapping[str, Quantity] | None = None,
) -> ResourceList:
    """The exact requests of a pod: the most that it ever needs of each resource.

    Containers and sidecars run side by side; each plain init container runs alone with
    the sidecars that started before it. Mirrors ``PodRequests``.

    Args:
        pod: The pod.
        use_status: Look at what the node has given to the containers, too.
        pod_level: Let requests of the pod as a whole replace those of its containers.
        overhead: Add what the pod's runtime class costs.
        missing: What a container counts with that does not request a resource at all.
    """
    spec = pod.spec
    total = _container_requests(pod, use_status, missing or {})
    if pod_level and has_pod_level_requests(spec):
        _replace_by_pod_level(total, pod, use_status)
    if overhead and spec.overhead:
        _add(total, spec.overhead)
    return total


def pod_limit_list(
    pod: Pod, *, pod_level: bool = True, overhead: bool = True
) -> ResourceList:
    """The exact limits of a pod, added up as `pod_request_list` adds up requests.

    Only resources that some container limits are there. Mirrors ``PodLimits``.

    Args:
        pod: The pod; its status does not matter.
        pod_level: Let limits of the pod as a whole replace those of its containers.
        overhead: Add what the pod's runtime class costs to what is limited.
    """
    spec = pod.spec
    limiting = replace(
        spec,
        containers=tuple(map(_requesting_its_limits, spec.containers)),
        init_containers=tuple(map(_requesting_its_limits, spec.init_containers)),
    )
    total = _container_requests(Pod(spec=limiting), False, {})
    if pod_level and spec.resources is not None:
        own = spec.resources.limits
        total |= {k: v for k, v in own.items() if _is_pod_level_resource(k)}
    if overhead and spec.overhead:
        _add(total, {k: v for k, v in spec.overhead.items() if total.get(k)})
    return total


def _requesting_its_limits(container: Container) -> Container:
    limits = ResourceRequirements(requests=container.resources.limits)
    return replace(container, resources=limits)


def status_changes_requests(pod: Pod) -> bool:
    """Whether a pod's status may make it count differently from its spec."""
    status, spec = pod.status, pod.spec
    if status.resources is not None and has_pod_level_requests(spec):
        wanted = spec.resources.requests if spec.resources is not None else {}
        if _differs(wanted, status.resources.requests, status.allocated_resources):
            return True
    return _any_status_differs(
        status.container_statuses, spec.containers
    ) or _any_status_differs(status.init_container_statuses, spec.init_containers)


def has_pod_level_requests(spec: PodSpec) -> bool:
    """Whether a pod as a whole requests something that can be requested that way."""
    return spec.resources is not None and any(
        map(_is_pod_level_resource, spec.resources.requests)
    )


def _container_requests(
    pod: Pod, use_status: bool, missing: Mapping[str, Quantity]
) -> ResourceList:
    spec = pod.spec
    statuses: Mapping[str, ContainerStatus] = {}
    if use_status:
        statuses = _statuses_by_name(pod.status)
    total: ResourceList = {}
    for container in spec.containers:
        _add(total, _effective_requests(container, pod, statuses, missing))
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in spec.init_containers:
        if container.is_sidecar:
            own = _effective_requests(container, pod, statuses, missing)
            _add(total, own)
            _add(sidecars, own)
            _raise_to(peak, sidecars)
        else:
            running = _effective_requests(container, pod, {}, missing).copy()
            _add(running, sidecars)
            _raise_to(peak, running)
    _raise_to(total, peak)
    return total


def _effective_requests(
    container: Container,
    pod: Pod,
    statuses: Mapping[str, ContainerStatus],
    missing: Mapping[str, Quantity],
) -> ResourceList:
    requests = container.resources.requests
    status = statuses.get(container.name)
    if status is not None and status.resources is not None:
        actual = status.resources.requests
        requests = _resized(pod, requests, actual, status.allocated_resources)
    if missing:
        return {**missing, **requests}
    return requests


def _replace_by_pod_level(total: ResourceList, pod: Pod, use_status: bool) -> None:
    assert pod.spec.resources is not None  # or there would be no pod-level requests
    wanted = pod.spec.resources.requests
    effective = wanted
    status = pod.status
    if use_status and status.resources is not None:
        actual = status.resources.requests
        effective = _resized(pod, wanted, actual, status.allocated_resources)
    for name in wanted:
        if _is_pod_level_resource(name):
            total[name] = effective.get(name, _ZERO)


def _resized(
    pod: Pod, wanted: ResourceList, actual: ResourceList, allocated: ResourceList
) -> ResourceList:
    """Take the largest of each amount; an infeasible resize leaves the wanted out."""
    result = {} if _is_resize_infeasible(pod.status) else dict(wanted)
    _raise_to(result, actual)
    _raise_to(result, allocated)
    return result


def _is_resize_infeasible(status: PodStatus) -> bool:
    for condition in status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _any_status_differs(
    statuses: Iterable[ContainerStatus], containers: tuple[Container, ...]
) -> bool:
    for index, status in enumerate(statuses):
        if status.resources is None:
            continue
        # Nodes list the statuses in the order of the containers; if this one does not,
        # the slow way finds the right container.
        if index >= len(containers) or containers[index].name != status.name:
            return True
        wanted = containers[index].resources.requests
        if _differs(wanted, status.resources.requests, status.allocated_resources):
            return True
    return False


def _differs(
    wanted: ResourceList, actual: ResourceList, allocated: ResourceList
) -> bool:
    return actual != wanted or bool(allocated and allocated != wanted)


def _statuses_by_name(status: PodStatus) -> dict[str, ContainerStatus]:
    return {
        container.name: container
        for container in (*status.container_statuses, *status.init_container_statuses)
    }


def _is_pod_level_resource(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES)


def _add(total: ResourceList, more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        known = total.get(name)
        total[name] = quantity if known is None else known + quantity


def _raise_to(total: ResourceList, least: Mapping[str, Quantity]) -> None:
    for name, quantity in least.items():
        known = total.get(name)
        if known is None or quantity > known:
            total[name] = quantity
