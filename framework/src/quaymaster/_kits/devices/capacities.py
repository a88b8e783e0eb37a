"""Computes how much of a device's capacities a request consumes.

Mirrors ``consumable_capacity.go`` (k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured/internal/incubating``).
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
from quaymaster._kits.devices.rules import DeviceRules

__all__ = ["CapacityError", "capacity_problem", "consumed_capacity", "has_room"]

_LARGEST: Final = 2**63 - 1
_WHOLE: Final = 10**9
_MILLI: Final = 10**6


class CapacityError(ValueError):
    """No device can provide this amount."""


def has_room(
    device: Device,
    requests: Mapping[str, Quantity],
    taken: Mapping[str, int],
    promised: Mapping[str, int],
    *,
    rules: DeviceRules,
) -> bool:
    """Return whether a device has room for a request, in amounts that it allows.

    Args:
        device: The device.
        requests: Name of a capacity -> the requested amount.
        taken: Name of a capacity -> the amount taken by claims, in units of 10**-9.
        promised: The same for the devices that the search has chosen so far.
        rules: The rules of the search; since Kubernetes 1.37, amounts that no device
            can give are errors.

    Raises:
        CapacityError: An amount is negative, or too large to be rounded up.
    """
    if any(name not in device.capacity for name in requests):
        return False
    if rules.is_1_37:
        for name, capacity in device.capacity.items():
            _check(name, requests.get(name), capacity, rules)
    for name, capacity in device.capacity.items():
        # Also capacities that the request does not name: each share consumes their
        # default, or all of a capacity without a default.
        amount = _consumed(requests.get(name), capacity, rules)
        if _is_against(amount, capacity.request_policy, rules):
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
    rules: DeviceRules,
) -> str:
    """Return why a device has no room, to follow its name; empty if it has room.

    Args:
        device: The device.
        requests: As for `has_room`.
        taken: As for `has_room`.
        rules: As for `has_room`.

    Raises:
        CapacityError: As for `has_room`.
    """
    if has_room(device, requests, taken, {}, rules=rules):
        return ""
    for name in requests:
        if name not in device.capacity:
            return f'without capacity "{name}"'
    for name, capacity in device.capacity.items():
        amount = _consumed(requests.get(name), capacity, rules)
        if _is_against(amount, capacity.request_policy, rules):
            return f'that gives no {amount} of capacity "{name}"'
        if amount > capacity.value:
            return f'with {capacity.value} of capacity "{name}", not {amount}'
    short = [
        f'"{name}"'
        for name, capacity in device.capacity.items()
        if _consumed(requests.get(name), capacity, rules).nanos + taken.get(name, 0)
        > capacity.value.nanos
    ]
    return f"with too little left of capacity {', '.join(short)}"


def consumed_capacity(
    device: Device, requests: Mapping[str, Quantity], *, rules: DeviceRules
) -> dict[str, Quantity]:
    """Return what a request consumes of each capacity, also of unnamed ones."""
    return {
        name: _consumed(requests.get(name), capacity, rules)
        for name, capacity in device.capacity.items()
    }


def _check(
    name: str, requested: Quantity | None, capacity: DeviceCapacity, rules: DeviceRules
) -> None:
    policy = capacity.request_policy
    limits = policy.valid_range if policy is not None else None
    if requested is not None and limits is not None:
        problem = _range_problem(requested, limits, rules)
        if problem:
            raise CapacityError(
                f'capacity "{name}": capacity request cannot be represented in the '
                f"device's range arithmetic: {problem}"
            )
    if _consumed(requested, capacity, rules).nanos < 0:
        raise CapacityError(f'capacity "{name}": capacity value is negative')


def _range_problem(
    requested: Quantity, limits: CapacityRequestPolicyRange, rules: DeviceRules
) -> str:
    """Return why an amount cannot be rounded up to a step of a range, or empty."""
    least, step = limits.min, limits.step
    if least is None or step is None or requested < least:
        return ""
    unit = _unit_of(limits, rules)
    if unit == _MILLI and not _is_whole(requested, unit):
        return f"request {requested} is not a representable milli value"
    if unit == _WHOLE and requested.nanos > _LARGEST * _WHOLE:
        return f"request {requested} exceeds MaxInt64"
    if _rounded_up(requested, least, step, unit) <= _LARGEST:
        return ""
    limit = "MaxInt64" if unit == _WHOLE else "the milli-value range"
    return f"rounding request {requested} up to the next step passes {limit}"


def _consumed(
    requested: Quantity | None, capacity: DeviceCapacity, rules: DeviceRules
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
        return _in_range(requested, limits.min, limits, rules)
    # Valid values are sorted by the API server's validation, so the first that is large
    # enough is the smallest. An amount above all of them is returned as it is, and
    # rejected by `_is_against`.
    larger = (value for value in policy.valid_values if requested <= value)
    return next(larger, requested)


def _in_range(
    requested: Quantity,
    least: Quantity,
    limits: CapacityRequestPolicyRange,
    rules: DeviceRules,
) -> Quantity:
    """Round an amount up to the minimum of a range plus a multiple of its step."""
    if requested < least:
        return least
    if limits.step is None:
        return requested
    # The format becomes visible: the amount is written into ``consumedCapacity`` of the
    # claim.
    written = limits.step.format if rules.is_1_37 else QuantityFormat.BINARY_SI
    unit = _unit_of(limits, rules)
    amount = _rounded_up(requested, least, limits.step, unit)
    if unit == _MILLI:
        return Quantity.from_milli(amount, written)
    return Quantity.from_value(amount, written)


def _unit_of(limits: CapacityRequestPolicyRange, rules: DeviceRules) -> int:
    """Return the unit of a range, in units of 10**-9.

    Mirrors ``useMilli``: thousandths if the gate is on, and all numbers of the range
    are multiples of them.
    """
    amounts = (limits.min, limits.max, limits.step)
    if not rules.has_fractions or not all(
        amount is None or _is_whole(amount, _MILLI) for amount in amounts
    ):
        return _WHOLE
    return _WHOLE if limits.step is not None and limits.step.nanos < _MILLI else _MILLI


def _is_whole(amount: Quantity, unit: int) -> bool:
    """Return whether an amount is an integer number of units within 64 bits."""
    return amount.nanos % unit == 0 and abs(amount.nanos // unit) <= _LARGEST


def _rounded_up(requested: Quantity, least: Quantity, step: Quantity, unit: int) -> int:
    first, size = _units(least, unit), _units(step, unit)
    # Rounds up without floats: the amounts may need all 64 bits.
    steps = -((first - _units(requested, unit)) // size)
    return first + steps * size


def _units(amount: Quantity, unit: int) -> int:
    """Return an amount in units, rounded like Go's ``Value`` and ``MilliValue``."""
    return amount.milli_value if unit == _MILLI else amount.value


def _is_against(
    amount: Quantity, policy: CapacityRequestPolicy | None, rules: DeviceRules
) -> bool:
    if policy is None or amount == policy.default:
        return False
    limits = policy.valid_range
    if limits is None:
        return bool(policy.valid_values) and amount not in policy.valid_values
    if limits.max is not None and amount > limits.max:
        return True
    if limits.step is None:
        return False
    unit = _unit_of(limits, rules)
    if unit == _MILLI and not _is_whole(amount, unit):
        return True
    least = _units(limits.min, unit) if limits.min is not None else 0
    return (_units(amount, unit) - least) % _units(limits.step, unit) != 0
