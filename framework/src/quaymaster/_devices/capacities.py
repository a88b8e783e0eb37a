"""How much of a device's capacities a request takes.

Mirrors ``consumable_capacity.go`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/internal/incubating``).
"""

from collections.abc import Mapping

from quaymaster._objects import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Device,
    DeviceCapacity,
)
from quaymaster._objects.quantity import Quantity, QuantityFormat

__all__ = ["consumed_capacity", "has_room"]


def has_room(
    device: Device,
    requests: Mapping[str, Quantity],
    taken: Mapping[str, int],
    promised: Mapping[str, int],
) -> bool:
    """Whether a device has what a request takes, in amounts that it allows.

    Args:
        device: The device.
        requests: Name of a capacity -> what is asked of it.
        taken: Name of a capacity -> what claims have taken, in units of 10**-9.
        promised: The same for what the search has chosen so far.
    """
    if any(name not in device.capacity for name in requests):
        return False
    for name, capacity in device.capacity.items():
        amount = _consumed(requests.get(name), capacity)
        if _is_against(amount, capacity.request_policy):
            return False
        total = amount.nanos + taken.get(name, 0) + promised.get(name, 0)
        if total > capacity.value.nanos:
            return False
    return True


def consumed_capacity(
    device: Device, requests: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    """What a request takes of each capacity, also of those that it does not name."""
    return {
        name: _consumed(requests.get(name), capacity)
        for name, capacity in device.capacity.items()
    }


def _consumed(requested: Quantity | None, capacity: DeviceCapacity) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        if policy is not None and policy.default is not None:
            return policy.default
        return capacity.value
    if policy is None:
        return requested
    limits = policy.valid_range
    if limits is not None and limits.min is not None:
        return _in_range(requested, limits.min, limits)
    larger = (value for value in policy.valid_values if requested <= value)
    return next(larger, requested)


def _in_range(
    requested: Quantity, least: Quantity, limits: CapacityRequestPolicyRange
) -> Quantity:
    """An amount of at least the least one, and some whole steps more."""
    if requested < least:
        return least
    if limits.step is None:
        return requested
    step = limits.step.value
    steps = -((least.value - requested.value) // step)
    return Quantity.from_value(least.value + steps * step, QuantityFormat.BINARY_SI)


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
