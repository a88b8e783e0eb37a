"""Checks the attributes and capacities of devices.

Mirrors ``validateQualifiedName``, ``validateDeviceAttribute``,
``numEntriesDeviceAttribute`` and ``validateRequestPolicy`` (Kubernetes v1.37,
``pkg/apis/resource/validation/validation.go``).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from quaymaster._api.objects import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Device,
    DeviceAttribute,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import CSI_DRIVER_NAME

__all__ = ["check_values", "has_lists", "number_of_values"]

_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}", re.ASCII)
_NAME: Final = "a name such as model or example.com/model"
# Semantic Versioning 2.0: no leading zeros in numbers, but a part with a letter may
# have them.
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_PART: Final = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PART}(?:\.{_PART})*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_MOST_CHARACTERS: Final = 64
_MOST_VALUES: Final = 10
_ZERO: Final = Quantity(0)


def check_values(device: Device, path: str, report: Report) -> None:
    """Check the attributes and capacities of a device."""
    for name, attribute in device.attributes.items():
        _check_name(name, f"{path}.attributes", report)
        _check_attribute(attribute, f"{path}.attributes[{name}]", report)
    for name, capacity in device.capacity.items():
        _check_name(name, f"{path}.capacity", report)
        policy, where = (
            capacity.request_policy,
            f"{path}.capacity[{name}].requestPolicy",
        )
        if policy is None:
            continue
        if device.allow_multiple_allocations:
            _check_policy(policy, capacity.value, where, report)
        else:
            report.add(where, "expected none unless allowMultipleAllocations")


def number_of_values(device: Device) -> int:
    """Return how many attribute values a device has, with the values in lists."""
    return sum(_number_of_values(each) for each in device.attributes.values())


def has_lists(device: Device) -> bool:
    """Return whether an attribute of a device is a list (``haveListAttributes``)."""
    return any(
        each is not None
        for attribute in device.attributes.values()
        for each in _lists(attribute)
    )


def _number_of_values(attribute: DeviceAttribute) -> int:
    """Count as ``numEntriesDeviceAttribute``: without lists, an attribute is one."""
    # Empty lists count as one, too: `_check_attribute` reports them.
    return sum(len(each or ()) for each in _lists(attribute)) or 1


def _lists(attribute: DeviceAttribute) -> Sequence[Sequence[object] | None]:
    return (
        attribute.int_values,
        attribute.bool_values,
        attribute.string_values,
        attribute.version_values,
    )


def _check_name(name: str, path: str, report: Report) -> None:
    """Check a name; as upstream, a name with several slashes is not checked."""
    domain, slash, identifier = name.rpartition("/")
    if "/" in domain:
        return
    is_domain = not slash or CSI_DRIVER_NAME.fits(domain)
    is_name = is_domain and bool(_ID.fullmatch(identifier))
    report.expect(is_name, path, _NAME, name)


def _check_attribute(attribute: DeviceAttribute, path: str, report: Report) -> None:
    values = attribute.by_field()
    count = sum(value is not None for value in values.values())
    report.expect(count == 1, path, "one of int, bool, string and version", count)
    for field, value in values.items():
        if value == ():
            report.add(f"{path}.{field}", "expected a value in the list, got none")
    for text in (attribute.string_value, *(attribute.string_values or ())):
        if text is not None and len(text.encode()) > _MOST_CHARACTERS:
            expected = f"at most {_MOST_CHARACTERS} bytes"
            report.expect(False, f"{path}.string", expected, text)
    for text in (attribute.version_value, *(attribute.version_values or ())):
        if text is not None:
            is_version = len(text) <= _MOST_CHARACTERS and bool(
                _VERSION.fullmatch(text)
            )
            expected = "a version such as 1.2.3"
            report.expect(is_version, f"{path}.version", expected, text)


def _check_policy(
    policy: CapacityRequestPolicy, capacity: Quantity, path: str, report: Report
) -> None:
    """Check that a policy has one form, and a default that it allows."""
    if policy.valid_values and policy.valid_range is not None:
        report.add(path, "expected either validValues or validRange, got both")
        # Upstream stops here, too: the rest could only be checked for one of the two
        # forms.
        return
    if not policy.valid_values and policy.valid_range is None:
        return
    if policy.default is None:
        report.add(f"{path}.default", "expected a default, got none")
    elif policy.valid_range is not None:
        where = f"{path}.validRange"
        _check_range(policy.valid_range, policy.default, capacity, where, report)
    else:
        where = f"{path}.validValues"
        _check_options(policy.valid_values, policy.default, capacity, where, report)


def _check_options(
    values: tuple[Quantity, ...],
    default: Quantity,
    capacity: Quantity,
    path: str,
    report: Report,
) -> None:
    for index, (before, after) in enumerate(pairwise(values), 1):
        expected = f"an amount above {before}"
        report.expect(before < after, f"{path}[{index}]", expected, after)
    if len(values) > _MOST_VALUES:
        report.expect(False, path, f"at most {_MOST_VALUES}", len(values))
    for index, value in enumerate(values):
        expected = f"at most the capacity, {capacity}"
        report.expect(value <= capacity, f"{path}[{index}]", expected, value)
    report.expect(default in values, path, "the default among them", default)


def _check_range(
    bounds: CapacityRequestPolicyRange,
    default: Quantity,
    capacity: Quantity,
    path: str,
    report: Report,
) -> None:
    least, most, step = bounds.min, bounds.max, bounds.step
    if least is None:
        report.add(f"{path}.min", "expected an amount, got none")
        return
    within = f"at most the capacity, {capacity}"
    report.expect(least <= capacity, f"{path}.min", within, least)
    expected = f"at least min, {least}"
    report.expect(default >= least, f"{path}.default", expected, default)
    if most is not None:
        report.expect(least <= most, f"{path}.max", expected, most)
        report.expect(most <= capacity, f"{path}.max", within, most)
        expected = f"at most max, {most}"
        report.expect(default <= most, f"{path}.default", expected, default)
    if step is None:
        return
    if step <= _ZERO:
        report.expect(False, f"{path}.step", "an amount above 0", step)
        return
    # Nanos are exact. Go computes with whole values, or with milli values under the
    # gate DRAFractionalCapacityRange.
    is_inside = least.nanos + step.nanos <= capacity.nanos
    report.expect(is_inside, f"{path}.step", within, step)
    for amount in (default, *(() if most is None else (most,))):
        is_step = (amount.nanos - least.nanos) % step.nanos == 0
        expected = f"a number of steps of {step} above {least}"
        report.expect(is_step, f"{path}.step", expected, amount)
