"""The exact limits of pods, also during a resize.

Mirrors ``PodLimits`` (Kubernetes v1.36 and v1.37,
``component-helpers/resource/helpers.go``), with the feature gates at their defaults.
"""

from collections.abc import Callable
from typing import Final

from quaymaster._api.objects import Container, Pod
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

__all__ = ["pod_limit_list"]

_ZERO: Final = Quantity(0)


def pod_limit_list(
    pod: Pod,
    *,
    use_status: bool = False,
    by_totals: bool = False,
    pod_level: bool = True,
    overhead: bool = True,
) -> ResourceList:
    """Return the exact limits of a pod, summed as ``pod_request_list`` sums requests.

    Only resources that some container limits are included. Mirrors ``PodLimits``.

    Args:
        pod: The pod.
        use_status: Also use the limits that the node has given to the containers.
        by_totals: Take the larger of the pod's totals during a resize, as Kubernetes
            does since 1.37, and not the total of each container's larger limits.
        pod_level: Let limits of the pod as a whole replace those of its containers.
        overhead: Add the overhead of the pod's runtime class to the limits.
    """
    spec = pod.spec
    total = _container_limits(pod, use_status, by_totals)
    if pod_level and spec.resources is not None:
        limits = effective = spec.resources.limits
        if use_status and pod.status.resources is not None:
            effective = _larger(pod, limits, pod.status.resources.limits)
        for name in effective if by_totals else limits:
            if is_pod_level_resource(name):
                total[name] = effective.get(name, _ZERO)
    if overhead and spec.overhead:
        # Without a limit a pod is unlimited, and the overhead alone would be a limit
        # (``PodLimits``, component-helpers/resource/helpers.go).
        add_to(total, {k: v for k, v in spec.overhead.items() if total.get(k)})
    return total


def _container_limits(pod: Pod, use_status: bool, by_totals: bool) -> ResourceList:
    if not use_status:
        return sum_up(pod.spec, _spec_limits)
    if by_totals:
        return _larger(pod, sum_up(pod.spec, _spec_limits), _actual_total(pod))
    return sum_up(pod.spec, _larger_limits(pod))


def _spec_limits(container: Container) -> ResourceList:
    return container.resources.limits


def _actual_total(pod: Pod) -> ResourceList:
    """Return the limits that a node has set, by the pod's status or its containers'."""
    own = pod.status.resources.limits if pod.status.resources is not None else {}
    if own:
        return own
    leaves_out = is_resize_infeasible(pod.status)
    statuses = statuses_by_name(pod.status)

    def actuated(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is not None and status.resources and status.resources.limits:
            return status.resources.limits
        return {} if leaves_out else container.resources.limits

    return sum_up(pod.spec, actuated)


def _larger_limits(pod: Pod) -> Callable[[Container], ResourceList]:
    """Return what computes a container's limits in a resize, before Kubernetes 1.37."""
    statuses = lasting_statuses(pod)

    def limits(container: Container) -> ResourceList:
        status = statuses.get(container.name)
        if status is None or status.resources is None:
            return container.resources.limits
        return _larger(pod, container.resources.limits, status.resources.limits)

    return limits


def _larger(pod: Pod, limits: ResourceList, actual: ResourceList) -> ResourceList:
    """Take the larger of each limit; not the desired one if it is infeasible."""
    result = {} if is_resize_infeasible(pod.status) else dict(limits)
    raise_to(result, actual)
    return result
