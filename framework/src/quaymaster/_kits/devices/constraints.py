"""What the devices of a claim must have in common, or must not.

Mirrors ``matchAttributeConstraint`` and ``distinctAttributeConstraint``
(k8s.io/dynamic-resource-allocation v0.36 and v0.37,
``structured/internal/incubating``).
"""

from collections.abc import Iterable
from typing import Final, Protocol

from quaymaster._api.objects import DeviceAttribute, DeviceConstraint
from quaymaster._kits.devices.errors import AllocationError
from quaymaster._kits.devices.requests import Request
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["Constraint", "make_constraint"]

_EMPTY: Final = DeviceAttribute()


class Constraint(Protocol):
    """A condition on all devices of some requests."""

    def add(self, request: Request, device: SlicedDevice) -> bool:
        """Count a device in if it goes with the others; say whether it does."""

    def remove(self, request: Request, device: SlicedDevice) -> None:
        """Count a device out that was counted in."""


def make_constraint(
    constraint: DeviceConstraint, where: str, *, by_device: bool
) -> Constraint:
    """Make a constraint for one search.

    Args:
        constraint: The constraint.
        where: Where it stands, for the error.
        by_device: Whether all devices must be distinct, as since Kubernetes 1.37, or
            the last ones of requests.

    Raises:
        AllocationError: It says nothing.
    """
    if constraint.match_attribute is not None:
        return _Match(constraint.requests, constraint.match_attribute)
    if constraint.distinct_attribute is not None:
        make = _DistinctDevices if by_device else _DistinctRequests
        return make(constraint.requests, constraint.distinct_attribute)
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
        elif value == _EMPTY or value != self._value:
            return False
        self._count += 1
        return True

    def remove(self, request: Request, _device: SlicedDevice) -> None:
        if _concerns(self._requests, request):
            self._count -= 1


class _DistinctRequests:
    """The last devices of requests have different values of an attribute.

    As upstream's, it knows of each request but the device that came last.
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


def _concerns(names: frozenset[str], request: Request) -> bool:
    return not names or request.main_name in names or request.full_name in names


def _attribute_of(device: SlicedDevice, name: str) -> DeviceAttribute | None:
    """An attribute of a device; those of its driver's domain may stand without it."""
    attributes = device.device.attributes
    found = attributes.get(name)
    if found is None:
        domain, slash, rest = name.partition("/")
        if slash and domain == device.id.driver:
            found = attributes.get(rest)
    # Constraints read lists only with the feature gate DRAListTypeAttributes.
    return found.without_lists() if found is not None and found.has_lists else found
