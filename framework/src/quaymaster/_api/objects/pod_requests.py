"""The exact requests of pods, also during a resize.

Mirrors ``PodRequests`` (Kubernetes v1.36 and v1.37,
``component-helpers/resource/helpers.go``), with the feature gates at their defaults.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from quaymaster._api.objects import (
    Container,
    ContainerStatus,
    Pod,
    PodSpec,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_sums import (
    add_to,
    is_pod_level_resource,
    is_resize_infeasible,
    lasting_statuses,
    raise_to,
    statuses_by_name,
    sum_up,
)

__all__ = [
    "has_pod_level_requests",
    "pod_request_list",
    "status_changes_requests",
    "status_changes_totals",
]

_ZERO: Final = Quantity(0)


def pod_request_list(
    pod: Pod,
    *,
    use_status: bool = False,
    by_totals: bool = False,
    pod_level: bool = True,
    overhead: bool = True,
    missing: Mapping[str, Quantity] | None = None,
) -> ResourceList:
    """Return the exact requests of a pod: the most that it ever needs of each resource.

    Containers and sidecars run side by side; each plain init container runs alone with
    the sidecars that started before it. Mirrors ``PodRequests``.

    Args:
        pod: The pod.
        use_status: Also use the resources that the node has given to the containers.
        by_totals: Take the largest of the pod's totals during a resize, as Kubernetes
            does since 1.37, and not the total of each container's largest amounts.
        pod_level: Let requests of the pod as a whole replace those of its containers.
        overhead: Add the overhead of the pod's runtime class.
        missing: The amounts for a container that does not request a resource at all.
    """
    spec = pod.spec
    total = _container_requests(pod, use_status, by_totals, missing or {})
    if pod_level and has_pod_level_requests(spec):
        _replace_by_pod_level(total, pod, use_status, by_totals)
    # Also on top of the requests of the pod as a whole, which do not contain it.
    if overhead and spec.overhead:
        add_to(total, spec.overhead)
    return total


def status_changes_requests(pod: Pod) -> bool:
    """Return whether the status may change the requests that the spec has."""
    status, spec = pod.status, pod.spec
    if status.resources is not None and has_pod_level_requests(spec):
        requests = spec.resources.requests if spec.resources is not None else {}
        if _differs(requests, status.resources.requests, status.allocated_resources):
            return True
    return _any_status_differs(
        status.container_statuses, spec.containers
    ) or _any_status_differs(status.init_container_statuses, spec.init_containers)


def status_changes_totals(pod: Pod) -> bool:
    """Return whether the status may change the totals that the spec has."""
    status, spec = pod.status, pod.spec
    if is_resize_infeasible(status):
        return True
    if status.resources is not None and status.allocated_resources:
        return True
    if status.resources is not None and has_pod_level_requests(spec):
        return True
    return _any_total_differs(
        status.container_statuses, spec.containers
    ) or _any_total_differs(status.init_container_statuses, spec.init_containers)


def has_pod_level_requests(spec: PodSpec) -> bool:
    """Return whether a pod as a whole requests resources that allow it."""
    return spec.resources is not None and any(
        map(is_pod_level_resource, spec.resources.requests)
    )


def _container_requests(
    pod: Pod, use_status: bool, by_totals: bool, missing: Mapping[str, Quantity]
) -> ResourceList:
    if not use_status:
        return sum_up(pod.spec, _spec_requests, missing)
    if by_totals:
        return _largest_total(pod, missing)
    return sum_up(pod.spec, _LargestAmounts(pod), missing)


def _spec_requests(container: Container) -> ResourceList:
    return container.resources.requests


class _LargestAmounts:
    """Computes a container's largest amounts in a resize, before Kubernetes 1.37."""

    def __init__(self, pod: Pod) -> None:
        self._pod = pod
        self._statuses = lasting_statuses(pod)

    def __call__(self, container: Container) -> ResourceList:
        requests = container.resources.requests
        status = self._statuses.get(container.name)
        if status is None or status.resources is None:
            return requests
        actual = status.resources.requests
        return _resized(self._pod, requests, actual, status.allocated_resources)


def _largest_total(pod: Pod, missing: Mapping[str, Quantity]) -> ResourceList:
    """Return the largest of the desired, the allocated and the actual total of a pod.

    If a resize is infeasible, the desired total is left out. The pod's own status, if
    it has both of the others, takes precedence over the statuses of its containers.
    """
    spec, status = pod.spec, pod.status
    leaves_out = is_resize_infeasible(status)
    own = status.resources.requests if status.resources is not None else {}
    if status.allocated_resources and own:
        promised, actual = status.allocated_resources, own
    else:
        statuses = statuses_by_name(status)

        def allocated(container: Container) -> ResourceList:
            status = statuses.get(container.name)
            if status is not None and status.allocated_resources:
                return status.allocated_resources
            return {} if leaves_out else container.resources.requests

        def actuated(container: Container) -> ResourceList:
            status = statuses.get(container.name)
            if status is not None and status.resources and status.resources.requests:
                return status.resources.requests
            return allocated(container)

        promised = sum_up(spec, allocated, missing)
        actual = sum_up(spec, actuated, missing)
    largest = {} if leaves_out else sum_up(spec, _spec_requests, missing)
    raise_to(largest, promised)
    raise_to(largest, actual)
    return largest


def _replace_by_pod_level(
    total: ResourceList, pod: Pod, use_status: bool, by_totals: bool
) -> None:
    assert pod.spec.resources is not None  # or there would be no pod-level requests
    requests = pod.spec.resources.requests
    effective = requests
    status = pod.status
    if use_status and status.resources is not None:
        actual = status.resources.requests
        effective = _resized(pod, requests, actual, status.allocated_resources)
    for name in effective if by_totals else requests:
        if is_pod_level_resource(name):
            total[name] = effective.get(name, _ZERO)


def _resized(
    pod: Pod, requests: ResourceList, actual: ResourceList, allocated: ResourceList
) -> ResourceList:
    """Take the largest of each amount; without the desired one if it is infeasible."""
    result = {} if is_resize_infeasible(pod.status) else dict(requests)
    raise_to(result, actual)
    raise_to(result, allocated)
    return result


def _any_status_differs(
    statuses: Iterable[ContainerStatus], containers: tuple[Container, ...]
) -> bool:
    for index, status in enumerate(statuses):
        if status.resources is None:
            continue
        # Nodes list the statuses in the order of the containers. Otherwise the slow way
        # finds the right container.
        if index >= len(containers) or containers[index].name != status.name:
            return True
        requests = containers[index].resources.requests
        if _differs(requests, status.resources.requests, status.allocated_resources):
            return True
    return False


def _any_total_differs(
    statuses: Iterable[ContainerStatus], containers: tuple[Container, ...]
) -> bool:
    for index, status in enumerate(statuses):
        if index >= len(containers) or containers[index].name != status.name:
            return True
        requests = containers[index].resources.requests
        actual = status.resources.requests if status.resources is not None else {}
        allocated = status.allocated_resources
        if (actual and actual != requests) or (allocated and allocated != requests):
            return True
    return False


def _differs(
    requests: ResourceList, actual: ResourceList, allocated: ResourceList
) -> bool:
    return actual != requests or bool(allocated and allocated != requests)
