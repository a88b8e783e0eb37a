"""Instance types as bits, so that requirements filter all of them at once.

A set of types is an integer; bit n is type n. Results by requirement are kept:
the pods of a solve have few different ones.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import attrs

from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    AllocatableOfferings,
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)

__all__ = ["FilteredTypes", "TypeIndex", "places_of"]


def places_of(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@attrs.frozen
class FilteredTypes:
    """Which types meet each of the three criteria.

    Attributes:
        compatible: Those whose labels meet the requirements.
        fitting: Those that have room, in an offering that meets the requirements.
        offered: Those with such an offering.
    """

    compatible: int
    fitting: int
    offered: int

    @property
    def all_met(self) -> int:
        """The types that meet all three."""
        return self.compatible & self.fitting & self.offered


class _LabelIndex:
    """Members by their requirement on one label.

    Args:
        requirements: The requirement of each member; None for members without one.
        undefined: Whether members with a label fit where it is not named.
    """

    def __init__(
        self, requirements: Iterable[Requirement | None], *, undefined: bool
    ) -> None:
        self._without = 0
        self._members: dict[Requirement, int] = {}
        self._cache: dict[Requirement | None, int] = {}
        self._undefined = undefined
        for place, requirement in enumerate(requirements):
            if requirement is None:
                self._without |= 1 << place
            else:
                members = self._members.get(requirement, 0)
                self._members[requirement] = members | 1 << place

    def matching(self, requirement: Requirement | None) -> int:
        """Return the members that may meet a requirement; None: it is not named."""
        bits = self._cache.get(requirement)
        if bits is None:
            bits = self._cache[requirement] = self._match(requirement)
        return bits

    def _match(self, requirement: Requirement | None) -> int:
        bits = self._without
        for own, members in self._members.items():
            if requirement is None:
                matches = self._undefined or own.is_negative
            else:
                negative = own.is_negative and requirement.is_negative
                matches = negative or own.intersects(requirement)
            if matches:
                bits |= members
        return bits


class _RoomIndex:
    """Members by what their nodes can hold."""

    def __init__(self, allocatable: Sequence[Amounts]) -> None:
        self._usable = 0
        for place, amounts in enumerate(allocatable):
            if all(amount >= 0 for amount in amounts.values()):
                self._usable |= 1 << place
        names = {name for amounts in allocatable for name in amounts}
        self._steps = {
            name: _steps([amounts.get(name, 0) for amounts in allocatable])
            for name in names
        }

    def fitting(self, requests: Amounts) -> int:
        """Return the members that have room for requests."""
        bits = self._usable
        for name, amount in requests.items():
            if amount <= 0:
                continue
            steps = self._steps.get(name)
            if steps is None:
                return 0
            bits &= steps[1][bisect_left(steps[0], amount)]
        return bits


def _steps(amounts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the different amounts in order, and the members with at least each."""
    members: dict[int, int] = {}
    for place, amount in enumerate(amounts):
        members[amount] = members.get(amount, 0) | 1 << place
    ordered = sorted(members)
    bits = [0] * (len(ordered) + 1)
    for step in range(len(ordered) - 1, -1, -1):
        bits[step] = bits[step + 1] | members[ordered[step]]
    return ordered, bits


class _Layer:
    """One group of offerings of each type: those with the same resources."""

    def __init__(
        self, groups: Sequence[AllocatableOfferings | None], well_known: frozenset[str]
    ) -> None:
        self._room = _RoomIndex(
            [group.allocatable if group else {} for group in groups]
        )
        pairs = [
            (place, offering)
            for place, group in enumerate(groups)
            for offering in (group.offerings if group else ())
        ]
        self._types = [place for place, _ in pairs]
        keys = {key for _, offering in pairs for key in offering.requirements.by_key}
        self._labels = {
            key: _LabelIndex(
                [offering.requirements.by_key.get(key) for _, offering in pairs],
                undefined=key in well_known,
            )
            for key in sorted(keys)
        }
        self._everything = (1 << len(pairs)) - 1
        self._offered: dict[tuple[Requirement | None, ...], int] = {}

    def fitting(self, requests: Amounts) -> int:
        """Return the types that have room for requests."""
        return self._room.fitting(requests)

    def offered(self, requirements: Requirements) -> int:
        """Return the types with an offering that meets requirements."""
        by_key = requirements.by_key
        named = tuple([by_key.get(key) for key in self._labels])
        types = self._offered.get(named)
        if types is None:
            types = self._offered[named] = self._offered_by(named)
        return types

    def _offered_by(self, named: tuple[Requirement | None, ...]) -> int:
        bits = self._everything
        for index, requirement in zip(self._labels.values(), named, strict=True):
            bits &= index.matching(requirement)
        types = 0
        for place in places_of(bits):
            types |= 1 << self._types[place]
        return types


class TypeIndex:
    """Instance types that can be filtered fast.

    Args:
        types: The types.
        well_known: Labels that requirements need not name.
    """

    def __init__(
        self, types: Sequence[InstanceType], well_known: frozenset[str]
    ) -> None:
        self.types = types
        self.everything = (1 << len(types)) - 1
        keys = {key for each in types for key in each.requirements.by_key}
        self._labels = {
            key: _LabelIndex(
                [each.requirements.by_key.get(key) for each in types], undefined=True
            )
            for key in keys
        }
        depth = max((len(each.allocatable_offerings) for each in types), default=0)
        self._layers = [
            _Layer([_layer_of(each, number) for each in types], well_known)
            for number in range(depth)
        ]
        self._capacity = {
            name: _steps([each.capacity.get(name, 0) for each in types])
            for name in {name for each in types for name in each.capacity}
        }
        self._well_known = well_known

    def members(self, bits: int) -> list[InstanceType]:
        """Return the types of a set, in their order."""
        return [self.types[place] for place in places_of(bits)]

    def compatible(self, requirements: Requirements) -> int:
        """Return the types whose labels may meet requirements."""
        bits = self.everything
        for key, index in self._labels.items():
            requirement = requirements.by_key.get(key)
            if requirement is not None:
                bits &= index.matching(requirement)
        return bits

    def filtered(
        self, requirements: Requirements, requests: Amounts, among: int
    ) -> FilteredTypes:
        """Return which types of a set meet the criteria."""
        fitting = offered = 0
        for layer in self._layers:
            with_offering = layer.offered(requirements)
            offered |= with_offering
            # A type counts as large enough only where an offering for these
            # requirements has the resources: offerings may change the resources of
            # their type.
            if with_offering & among:
                fitting |= with_offering & layer.fitting(requests)
        return FilteredTypes(
            self.compatible(requirements) & among, fitting & among, offered & among
        )

    def have_room(self, requests: Amounts, among: int) -> bool:
        """Return whether some type of a set has room for requests."""
        return any(layer.fitting(requests) & among for layer in self._layers)

    def within(self, remaining: Amounts) -> int:
        """Return the types whose whole capacity is within limits."""
        bits = self.everything
        for name, limit in remaining.items():
            steps = self._capacity.get(name)
            if steps is None:
                if limit < 0:
                    return 0
                continue
            # All but those with at least one unit more.
            bits &= ~steps[1][bisect_left(steps[0], limit + 1)]
        return bits

    def offerings(self, requirements: Requirements, among: int) -> Iterator[Offering]:
        """Yield the available offerings of types that meet requirements."""
        for each in self.members(among):
            for offering in each.offerings:
                if offering.available and requirements.compatible(
                    offering.requirements, self._well_known
                ):
                    yield offering


def _layer_of(each: InstanceType, number: int) -> AllocatableOfferings | None:
    groups = each.allocatable_offerings
    return groups[number] if number < len(groups) else None
