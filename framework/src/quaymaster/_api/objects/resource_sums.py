"""Sums of the resources of a pod's containers.

Mirrors ``aggregateContainerResourcesByFn`` (Kubernetes v1.37,
``component-helpers/resource/helpers.go``).
"""

from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._api.objects import (
    Container,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import CPU, HUGE_PAGES, MEMORY

__all__ = [
    "RESIZE_PENDING",
    "add_to",
    "is_pod_level_resource",
    "is_resize_infeasible",
    "lasting_statuses",
    "raise_to",
    "statuses_by_name",
    "sum_up",
]

RESIZE_PENDING: Final = "PodResizePending"
"""The type of the condition that shows the state of a resize."""


def sum_up(
    spec: PodSpec,
    own: Callable[[Container], ResourceList],
    missing: Mapping[str, Quantity] | None = None,
) -> ResourceList:
    """Add up the amounts of the containers, computed for each container."""

    def complete(container: Container) -> ResourceList:
        return {**missing, **own(container)} if missing else own(container)

    total: ResourceList = {}
    for container in spec.containers:
        add_to(total, complete(container))
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in spec.init_containers:
        if container.is_sidecar:
            amounts = complete(container)
            add_to(total, amounts)
            add_to(sidecars, amounts)
            # A plain init container runs beside the sidecars that started before it, so
            # the order of init containers counts.
            raise_to(peak, sidecars)
        else:
            running = complete(container).copy()
            add_to(running, sidecars)
            raise_to(peak, running)
    raise_to(total, peak)
    return total


def is_resize_infeasible(status: PodStatus) -> bool:
    """Return whether the node can never grant what a resize requests."""
    for condition in status.conditions:
        if condition.type == RESIZE_PENDING:
            return condition.reason == "Infeasible"
    return False


def statuses_by_name(status: PodStatus) -> dict[str, ContainerStatus]:
    """Return the statuses of all containers, also of init containers."""
    return {
        container.name: container
        for container in (*status.container_statuses, *status.init_container_statuses)
    }


def lasting_statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """Return the statuses by container, without those of plain init containers."""
    plain = {
        container.name
        for container in pod.spec.init_containers
        if not container.is_sidecar
    }
    return {
        name: status
        for name, status in statuses_by_name(pod.status).items()
        if name not in plain
    }


def is_pod_level_resource(name: str) -> bool:
    """Return whether a pod as a whole can request or limit a resource."""
    return name in (CPU, MEMORY) or name.startswith(HUGE_PAGES)


def add_to(total: ResourceList, more: Mapping[str, Quantity]) -> None:
    """Add amounts to a total."""
    for name, quantity in more.items():
        amount = total.get(name)
        total[name] = quantity if amount is None else amount + quantity


def raise_to(total: ResourceList, least: Mapping[str, Quantity]) -> None:
    """Raise each amount of a total that is less than another one."""
    for name, quantity in least.items():
        amount = total.get(name)
        if amount is None or quantity > amount:
            total[name] = quantity
