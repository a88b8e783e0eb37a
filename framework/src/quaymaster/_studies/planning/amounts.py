"""The amounts that pods request and nodes offer, as the scheduler counts them."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.resources import Resources, node_allocatable, pod_requests

__all__ = ["Amounts", "offered", "requested", "total"]

Amounts: TypeAlias = Mapping[str, int]
"""Resource -> amount: CPU in millicores, memory and storage in bytes."""

_NAMED: Final = ("cpu", "memory", "ephemeral-storage", "pods")


def requested(pod: Pod) -> dict[str, int]:
    """Return the requests of a pod, by resource; ``pods`` is 1."""
    return _amounts(pod_requests(pod)) | {"pods": 1}


def offered(node: Node) -> dict[str, int]:
    """Return the allocatable amounts of a node, by resource."""
    return _amounts(node_allocatable(node))


def total(several: Iterable[Amounts]) -> dict[str, int]:
    """Add amounts."""
    sums: dict[str, int] = {}
    for amounts in several:
        for name, amount in amounts.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def _amounts(resources: Resources) -> dict[str, int]:
    amounts = {name: resources.get(name) for name in _NAMED} | resources.scalars
    return {name: amount for name, amount in amounts.items() if amount}
