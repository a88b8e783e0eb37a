"""How much of a device's capacities a request takes.

Mirrors ``consumable_capacity.go`` (k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured/internal/incubating``), with the feature gates at their defaults.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Device,
    DeviceCapacity,
)
from quaymaster._api.objects.quantity import Quantity, QuantityFormat

__all__ = ["CapacityError", "capacity_problem", "consumed_capacity", "has_room"]

_LARGEST: Final = 2**63 - 1


class CapacityError(ValueError):
    """An amount that no device can give."""


def has_room(
    device: Device,
    requests: Mapping[str, Quantity],
    taken: Mapping[str, int],
    promised: Mapping[str, int],
    *,
    is_1_37: bool = False,
) -> bool:
    """Whether a device has what a request takes, in amounts that it allows.

    Args:
        device: The device.
        requests: Name of a capacity -> what is asked of it.
        taken: Name of a capacity -> what claims have taken, in units of 10**-9.
        promised: The same for what the search has chosen so far.
        is_1_37: Whether amounts that no device can give are errors, as since
            Kubernetes 1.37.

    Raises:
        CapacityError: An amount is negative, or too large to be rounded up.
    """
    if any(name not in device.capacity for name in requests):
        return False
    if is_1_37:
        for name, capacity in device.capacity.items():
            _check(name, requests.get(name), capacity)
    for name, capacity in device.capacity.items():
        amount = _consumed(requests.get(name), capacity, is_1_37=is_1_37)
        if _is_against(amount, capacity.request_policy):
            return False
        total = amount.nanos + taken.get(name, 0) + promised.get(name, 0)
        if total > capacity.value.nanos:
            return False
    return True


def capacity_problem(
    device: Device,
    requests: Mapping[str, Quantity],
    taken: Mapping[str, int],
    *,
    is_1_37: bool = False,
) -> str:
    """Say why a device has no room, after the device; empty if it has.

    Args:
        device: The device.
        requests: As for `has_room`.
        taken: As for `has_room`.
        is_1_37: As for `has_room`.

    Raises:
        CapacityError: As for `has_room`.
    """
    if has_room(device, requests, taken, {}, is_1_37=is_1_37):
        return ""
    for name in requests:
        if name not in device.capacity:
            return f'without capacity "{name}"'
    for name, capacity in device.capacity.items():
        amount = _consumed(requests.get(name), capacity, is_1_37=is_1_37)
        if _is_against(amount, capacity.request_policy):
            return f'that gives no {amount} of capacity "{name}"'
        if amount > capacity.value:
            return f'with {capacity.value} of capacity "{name}", not {amount}'
    short = [
        f'"{name}"'
        for name, capacity in device.capacity.items()
        if _consumed(requests.get(name), capacity, is_1_37=is_1_37).nanos
        + taken.get(name, 0)
        > capacity.value.nanos
    ]
    return f"with too little left of capacity {', '.join(short)}"


def consumed_capacity(
    device: Device, requests: Mapping[str, Quantity], *, is_1_37: bool = False
) -> dict[str, Quantity]:
    """What a request takes of each capacity, also of those that it does not name."""
    return {
        name: _consumed(requests.get(name), capacity, is_1_37=is_1_37)
        for name, capacity in device.capacity.items()
    }


def _check(name: str, requested: Quantity | None, capacity: DeviceCapacity) -> None:
    problem = _unrepresentable(requested, capacity.request_policy)
    if problem:
        raise CapacityError(
            f'capacity "{name}": capacity request cannot be represented in the '
            f"device's range arithmetic: {problem}"
        )
    if _consumed(requested, capacity, is_1_37=True).nanos < 0:
        raise CapacityError(f'capacity "{name}": capacity value is negative')


def _unrepresentable(
    requested: Quantity | None, policy: CapacityRequestPolicy | None
) -> str:
    """Return why a request cannot be rounded up in 64 bits; empty if it can."""
    limits = policy.valid_range if policy is not None else None
    if requested is None or limits is None or limits.min is None:
        return ""
    if limits.step is None or requested < limits.min:
        return ""
    if requested.nanos > _LARGEST * 10**9:
        return f"request {requested} exceeds MaxInt64"
    if _rounded_up(requested, limits.min, limits.step) > _LARGEST:
        return f"rounding request {requested} up to the next step passes MaxInt64"
    return ""


def _consumed(
    requested: Quantity | None, capacity: DeviceCapacity, *, is_1_37: bool
) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        if policy is not None and policy.default is not None:
            return policy.default
        return capacity.value
    if policy is None:
        return requested
    limits = policy.valid_range
    if limits is not None and limits.min is not None:
        return _in_range(requested, limits.min, limits, is_1_37=is_1_37)
    larger = (value for value in policy.valid_values if requested <= value)
    return next(larger, requested)


def _in_range(
    requested: Quantity,
    least: Quantity,
    limits: CapacityRequestPolicyRange,
    *,
    is_1_37: bool,
) -> Quantity:
    """An amount of at least the least one, and some whole steps more."""
    if requested < least:
        return least
    if limits.step is None:
        return requested
    written = limits.step.format if is_1_37 else QuantityFormat.BINARY_SI
    return Quantity.from_value(_rounded_up(requested, least, limits.step), written)


def _rounded_up(requested: Quantity, least: Quantity, step: Quantity) -> int:
    steps = -((least.value - requested.value) // step.value)
    return least.value + steps * step.value


def _is_against(amount: Quantity, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None or amount == policy.default:
        return False
    limits = policy.valid_range
    if limits is None:
        return bool(policy.valid_values) and amount not in policy.valid_values
    if limits.max is not None and amount > limits.max:
        return True
    if limits.step is None:
        return False
    least = limits.min.value if limits.min is not None else 0
    return (amount.value - least) % limits.step.value != 0
