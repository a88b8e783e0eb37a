"""Amounts of resources as exact integers, in units of 10**-9.

Mirrors ``pkg/utils/resources/resources.go`` (sigs.k8s.io/karpenter v1.15).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from quaymaster._api.objects import Pod, PodSpec, SpecKey
from quaymaster._api.objects.pod_requests import (
    pod_request_list,
    status_changes_requests,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import (
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
)
from quaymaster._api.objects.resource_sums import add_to

__all__ = [
    "NODES",
    "ONE_NODE",
    "Amounts",
    "add_amounts",
    "added",
    "amount_text",
    "amounts_of",
    "amounts_text",
    "fits",
    "largest",
    "largest_lists",
    "request_list",
    "requests_of",
    "smallest_lists",
    "subtract_from",
    "subtracted",
]

Amounts: TypeAlias = dict[str, int]
"""Resource name -> amount in units of 10**-9."""

NODES: Final = "nodes"
"""The resource of limits that counts nodes."""

ONE_NODE: Final = 10**9
"""The amount of `NODES` that one node is."""


def amounts_of(resources: Mapping[str, Quantity]) -> Amounts:
    """Return the amounts of a resource list."""
    return {name: quantity.nanos for name, quantity in resources.items()}


def request_list(pods: Iterable[Pod]) -> ResourceList:
    """Return the requests of pods with their notations, and the number of pods."""
    total: ResourceList = {}
    count = 0
    for pod in pods:
        add_to(total, _requests(pod))
        count += 1
    total[PODS] = Quantity(count)
    return total


def requests_of(*pods: Pod) -> Amounts:
    """Return the requests of pods, and the number of pods."""
    total: Amounts = {}
    for pod in pods:
        for name, amount in _amounts(pod).items():
            total[name] = total.get(name, 0) + amount
    total[PODS] = len(pods) * 10**9
    return total


_BYTES: Final = frozenset({MEMORY, EPHEMERAL_STORAGE})


def _requests(pod: Pod) -> ResourceList:
    if status_changes_requests(pod):
        return pod_request_list(pod, use_status=True)
    return _SPEC_REQUESTS.of(pod)


def _amounts(pod: Pod) -> Amounts:
    if status_changes_requests(pod):
        return amounts_of(pod_request_list(pod, use_status=True))
    return _SPEC_AMOUNTS.of(pod)


def _requests_of_spec(spec: PodSpec) -> ResourceList:
    return pod_request_list(Pod(spec=spec))


def _amounts_of_spec(spec: PodSpec) -> Amounts:
    return amounts_of(_SPEC_REQUESTS.of_spec(spec))


_SPEC_REQUESTS: Final = SpecKey(_requests_of_spec)
_SPEC_AMOUNTS: Final = SpecKey(_amounts_of_spec)


def added(left: Amounts, right: Amounts) -> Amounts:
    """Return the sum of two amounts."""
    total = left.copy()
    for name, amount in right.items():
        total[name] = total.get(name, 0) + amount
    return total


def add_amounts(total: Amounts, amounts: Amounts) -> None:
    """Add amounts in place."""
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def subtracted(left: Amounts, right: Amounts) -> Amounts:
    """Return the difference, of the resources of the left amounts only."""
    return {name: amount - right.get(name, 0) for name, amount in left.items()}


def subtract_from(total: Amounts, amounts: Amounts) -> None:
    """Subtract amounts in place; resources that are missing become negative."""
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) - amount


def fits(requests: Amounts, total: Amounts) -> bool:
    """Return whether requests fit; nothing fits if an amount is negative."""
    # Loops and not generators: solves compare little else.
    for amount in total.values():
        if amount < 0:
            return False
    for name, amount in requests.items():  # noqa: SIM110 - above
        if amount > total.get(name, 0):
            return False
    return True


def largest(many: Iterable[Amounts]) -> Amounts:
    """Return the largest amount of each resource."""
    result: Amounts = {}
    for amounts in many:
        for name, amount in amounts.items():
            present = result.get(name)
            if present is None or amount > present:
                result[name] = amount
    return result


def smallest_lists(left: ResourceList, right: ResourceList) -> ResourceList:
    """Return the smaller amount of each resource that both have."""
    return {
        name: min(quantity, right[name])
        for name, quantity in left.items()
        if name in right
    }


def largest_lists(left: ResourceList, right: ResourceList) -> ResourceList:
    """Return the larger amount of each resource."""
    result = left.copy()
    for name, quantity in right.items():
        if name not in result or quantity > result[name]:
            result[name] = quantity
    return result


def amount_text(resource: str, amount: int) -> str:
    """Return an amount in words; memory and storage are rounded to 0.1 Gi."""
    if resource in _BYTES:
        gibibytes = amount / 10**9 / 2**30
        return f"{round(gibibytes, 1):g}Gi"
    return str(Quantity.from_milli(amount // 10**6))


def amounts_text(resources: ResourceList) -> str:
    """Return a resource list as upstream's errors show it: compact JSON."""
    texts = {name: str(resources[name]) for name in sorted(resources)}
    return json.dumps(texts, separators=(",", ":"))
