"""The constraints of claims: equal or distinct attributes of their devices.

Mirrors ``matchAttributeConstraint`` and ``distinctAttributeConstraint``
(k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured/internal/incubating``).
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from quaymaster._api.objects import DeviceAttribute, DeviceConstraint
from quaymaster._kits.devices.errors import AllocationError
from quaymaster._kits.devices.requests import Request
from quaymaster._kits.devices.rules import DeviceRules
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["Constraint", "make_constraint"]

_EMPTY: Final = DeviceAttribute()

_Values: TypeAlias = "frozenset[tuple[str, int | str]]"
"""Values of one attribute, each with its type."""


class Constraint(Protocol):
    """A condition on all devices of some requests."""

    def add(self, request: Request, device: SlicedDevice) -> bool:
        """Add a device if it meets the constraint; return whether it does."""

    def remove(self, request: Request, device: SlicedDevice) -> None:
        """Remove a device that was added."""


def make_constraint(
    constraint: DeviceConstraint, where: str, *, rules: DeviceRules
) -> Constraint:
    """Make a constraint for one search.

    Args:
        constraint: The constraint.
        where: The place of the constraint, for the error.
        rules: The rules of the search. Since Kubernetes 1.37, all devices must be
            distinct; before that, only the last device of each request.

    Raises:
        AllocationError: The constraint is empty.
    """
    if constraint.match_attribute is not None:
        match = _MatchLists if rules.compares_lists else _Match
        return match(constraint.requests, constraint.match_attribute)
    if constraint.distinct_attribute is not None:
        distinct: type[_DistinctLists | _DistinctDevices | _DistinctRequests]
        if rules.compares_lists:
            distinct = _DistinctLists
        else:
            distinct = _DistinctDevices if rules.is_1_37 else _DistinctRequests
        return distinct(constraint.requests, constraint.distinct_attribute)
    raise AllocationError(f"{where}: empty constraint (unsupported constraint type?)")


class _Match:
    """All devices have the same value of an attribute."""

    def __init__(self, requests: Iterable[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._name = attribute
        self._value = _EMPTY
        self._count = 0

    def add(self, request: Request, device: SlicedDevice) -> bool:
        if not _concerns(self._requests, request):
            return True
        value = _attribute_of(device, self._name)
        if value is None:
            return False
        if not self._count:
            self._value = value
        # An attribute without a value is equal to no other, not even to another without
        # a value. As the first one it is accepted, so that a single device satisfies
        # the constraint.
        elif value == _EMPTY or value != self._value:
            return False
        self._count += 1
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._count -= 1


class _DistinctRequests:
    """The last devices of requests have different values of an attribute.

    As in Kubernetes 1.36, only the last device of each request is compared.
    """

    def __init__(self, requests: Iterable[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._name = attribute
        self._values: dict[str, DeviceAttribute] = {}
        self._count = 0

    def add(self, request: Request, device: SlicedDevice) -> bool:
        if not _concerns(self._requests, request):
            return True
        value = _attribute_of(device, self._name)
        if value is None:
            return False
        others = self._values.values() if self._count else ()
        if others and (value == _EMPTY or value in others):
            return False
        # Under the name of the request: a second device of the same request overwrites
        # the first, which is upstream's behaviour before 1.37.
        self._values[request.main_name] = value
        self._count += 1
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._values.pop(request.main_name, None)
            self._count -= 1


class _DistinctDevices:
    """All devices have different values of an attribute."""

    def __init__(self, requests: Iterable[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._name = attribute
        self._values: list[DeviceAttribute] = []

    def add(self, request: Request, device: SlicedDevice) -> bool:
        if not _concerns(self._requests, request):
            return True
        value = _attribute_of(device, self._name)
        if value is None or (self._values and value == _EMPTY):
            return False
        if value in self._values:
            return False
        self._values.append(value)
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._values.pop()


class _MatchLists:
    """All devices share a value of an attribute; a single value is a list of one."""

    def __init__(self, requests: Iterable[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._name = attribute
        self._common: list[_Values] = []

    def add(self, request: Request, device: SlicedDevice) -> bool:
        if not _concerns(self._requests, request):
            return True
        values = _values_of(device, self._name)
        if self._common:
            # A stack, since removing a device must bring back values that it had
            # excluded.
            values &= self._common[-1]
        if not values:
            return False
        self._common.append(values)
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._common.pop()


class _DistinctLists:
    """No two devices share a value of an attribute."""

    def __init__(self, requests: Iterable[str], attribute: str) -> None:
        self._requests = frozenset(requests)
        self._name = attribute
        self._values: list[_Values] = []

    def add(self, request: Request, device: SlicedDevice) -> bool:
        if not _concerns(self._requests, request):
            return True
        values = _values_of(device, self._name)
        if not values or any(values & others for others in self._values):
            return False
        self._values.append(values)
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._values.pop()


def _concerns(names: frozenset[str], request: Request) -> bool:
    # A constraint may name a request, and then holds for all its alternatives, or one
    # alternative as ``request/alternative``.
    return not names or request.main_name in names or request.full_name in names


def _values_of(device: SlicedDevice, name: str) -> _Values:
    """Return the values of an attribute, each with its type; empty if it has none.

    Mirrors ``attributeAsSet``: of several types, the first one counts.
    """
    attribute = _attribute_named(device, name)
    if attribute is None:
        return frozenset()
    lists: Mapping[str, Sequence[int | str] | None] = {
        "int": attribute.int_values,
        "bool": attribute.bool_values,
        "string": attribute.string_values,
        "version": attribute.version_values,
    }
    for kind, values in lists.items():
        if values:
            return frozenset((kind, value) for value in values)
    single: Mapping[str, int | str | None] = {
        "int": attribute.int_value,
        "bool": attribute.bool_value,
        "string": attribute.string_value,
        "version": attribute.version_value,
    }
    present = ((kind, value) for kind, value in single.items() if value is not None)
    return frozenset(itertools.islice(present, 1))


def _attribute_of(device: SlicedDevice, name: str) -> DeviceAttribute | None:
    """Return an attribute of a device without its lists, or None.

    Constraints read lists only with the feature gate DRAListTypeAttributes.
    """
    attribute = _attribute_named(device, name)
    if attribute is None or not attribute.has_lists:
        return attribute
    return attribute.without_lists()


def _attribute_named(device: SlicedDevice, name: str) -> DeviceAttribute | None:
    """Return an attribute; in the domain of the driver, its name may omit that."""
    attributes = device.device.attributes
    attribute = attributes.get(name)
    if attribute is None:
        # Drivers publish attributes of their own domain without it, whereas claims must
        # write the full name (``lookupAttribute``).
        domain, slash, rest = name.partition("/")
        if slash and domain == device.id.driver:
            attribute = attributes.get(rest)
    return attribute
