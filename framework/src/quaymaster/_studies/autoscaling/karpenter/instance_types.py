"""Instance types and their offerings.

Mirrors ``pkg/cloudprovider/types.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    ON_DEMAND,
    RESERVED,
    SPOT,
    WELL_KNOWN_LABELS,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)

__all__ = [
    "UNKNOWN_PRICE",
    "AllocatableOfferings",
    "InstanceType",
    "MinValuesCheck",
    "Offering",
    "cheapest_launch_price",
    "compatible_offerings",
    "launch_prices",
    "launchable",
    "order_by_price",
    "satisfies_min_values",
    "truncated",
    "worst_launch_price",
]

_HUGE_PAGES: Final = "hugepages-"
_MEMORY: Final = "memory"
_KEPT_ORDERS: Final = 256
UNKNOWN_PRICE: Final = math.inf
"""The price of a type without an offering that could be launched."""


@attrs.frozen(kw_only=True, eq=False)
class Offering:
    """Where, and how, an instance type can be had.

    Attributes:
        requirements: Its labels, with zone and capacity type.
        price: What a node costs per hour.
        available: Whether the cloud has it.
        reservation_id: The reservation of reserved capacity; empty for others.
        reservation_capacity: How many nodes the reservation still has.
        capacity_override: Amounts of the type that differ in this offering.
        overhead_override: Amounts of the overhead that differ.
        has_price_overlay: Whether a NodeOverlay has changed the price.
    """

    requirements: Requirements
    price: float
    available: bool = True
    reservation_id: str = ""
    reservation_capacity: int = 0
    capacity_override: Mapping[str, int] = attrs.field(factory=dict)
    overhead_override: Mapping[str, int] | None = None
    has_price_overlay: bool = False

    @functools.cached_property
    def zone(self) -> str:
        """Its zone."""
        return self.requirements.get(ZONE).single_value or ""

    @functools.cached_property
    def capacity_type(self) -> str:
        """``spot``, ``on-demand`` or ``reserved``."""
        return self.requirements.get(CAPACITY_TYPE).single_value or ""

    @property
    def is_launchable(self) -> bool:
        """Whether a node can be launched now; full reservations have no room."""
        if not self.available:
            return False
        if CAPACITY_TYPE not in self.requirements:
            return True
        reserved = self.requirements.get(CAPACITY_TYPE).has(RESERVED)
        return not reserved or self.reservation_capacity > 0


@attrs.frozen(eq=False)
class AllocatableOfferings:
    """Available offerings that give a node the same resources.

    Attributes:
        allocatable: What pods can use.
        offerings: The offerings.
    """

    allocatable: Amounts
    offerings: Sequence[Offering]


@attrs.frozen(kw_only=True, eq=False)
class InstanceType:
    """A kind of machine.

    Attributes:
        name: Its name.
        requirements: What its labels can be.
        capacity: What a node has, in units of 10**-9.
        overhead: What the system of a node needs.
        offerings: Where it can be had.
        volume_limits: How many volumes of each CSI driver a node can attach.
        has_capacity_overlay: Whether a NodeOverlay has added resources.
    """

    name: str
    requirements: Requirements
    capacity: Amounts
    overhead: Amounts = attrs.field(factory=dict)
    offerings: Sequence[Offering]
    volume_limits: Mapping[str, int] = attrs.field(factory=dict)
    has_capacity_overlay: bool = False
    launch_prices: dict[object, tuple[float, float]] = attrs.field(
        factory=dict, init=False, repr=False
    )
    """The prices that `launch_prices` has computed."""

    @functools.cached_property
    def offering_labels(self) -> Sequence[str]:
        """The labels that its offerings require."""
        keys = {r.key: None for each in self.offerings for r in each.requirements}
        return tuple(keys)

    @functools.cached_property
    def allocatable_offerings(self) -> Sequence[AllocatableOfferings]:
        """The available offerings by what pods can use; the first without overrides."""
        groups: dict[object, list[Offering]] = {None: []}
        for offering in self.offerings:
            if offering.available:
                groups.setdefault(_override_key(offering), []).append(offering)
        return [
            AllocatableOfferings(self._allocatable_of(key, offerings), offerings)
            for key, offerings in groups.items()
        ]

    def _allocatable_of(self, key: object, offerings: Sequence[Offering]) -> Amounts:
        if key is None:
            return _allocatable(self.capacity, self.overhead)
        offering = offerings[0]
        overhead = {**self.overhead, **(offering.overhead_override or {})}
        return _allocatable({**self.capacity, **offering.capacity_override}, overhead)

    @property
    def allocatable(self) -> Amounts:
        """What pods can use, without overrides of offerings."""
        return self.allocatable_offerings[0].allocatable

    def offering_price(self, zone: str, capacity_type: str) -> float | None:
        """Return the price of the first offering in a zone, or None without one."""
        for offering in self.offerings:
            if offering.zone == zone and offering.capacity_type == capacity_type:
                return offering.price
        return None

    @property
    def has_price_overlay(self) -> bool:
        """Whether a NodeOverlay has changed the price of an offering."""
        return any(offering.has_price_overlay for offering in self.offerings)


def _override_key(offering: Offering) -> object:
    if not offering.capacity_override and offering.overhead_override is None:
        return None
    overhead = offering.overhead_override
    return (
        frozenset(offering.capacity_override.items()),
        None if overhead is None else frozenset(overhead.items()),
    )


def _allocatable(capacity: Amounts, overhead: Amounts) -> Amounts:
    left = {name: amount - overhead.get(name, 0) for name, amount in capacity.items()}
    for name, amount in capacity.items():
        if name.startswith(_HUGE_PAGES):
            left[_MEMORY] = max(left.get(_MEMORY, 0) - amount, 0)
    return left


def launchable(offerings: Iterable[Offering]) -> list[Offering]:
    """Return the offerings that can be launched now."""
    return [offering for offering in offerings if offering.is_launchable]


def compatible_offerings(
    offerings: Iterable[Offering],
    requirements: Requirements,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> list[Offering]:
    """Return the offerings that meet requirements."""
    return [
        offering
        for offering in offerings
        if requirements.compatible(offering.requirements, well_known)
    ]


def launch_prices(
    instance_type: InstanceType,
    requirements: Requirements,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> tuple[float, float]:
    """Return the lowest and the highest price that a launch may have, or infinity.

    They are computed once for the same requirements on the labels of offerings.
    """
    by_key = requirements.by_key
    # A consolidation compares the prices of all types for each node.
    key = (well_known, *map(by_key.get, instance_type.offering_labels))
    prices = instance_type.launch_prices.get(key)
    if prices is None:
        offerings = launchable(instance_type.offerings)
        matching = compatible_offerings(offerings, requirements, well_known)
        cheapest = min((each.price for each in matching), default=UNKNOWN_PRICE)
        prices = cheapest, worst_launch_price(matching, requirements, well_known)
        instance_type.launch_prices[key] = prices
    return prices


def cheapest_launch_price(
    instance_type: InstanceType,
    requirements: Requirements,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> float:
    """Return the lowest price of the offerings that can be launched, or infinity."""
    return launch_prices(instance_type, requirements, well_known)[0]


def worst_launch_price(
    offerings: Iterable[Offering],
    requirements: Requirements,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> float:
    """Return the highest price that a launch may have, or infinity.

    Reserved capacity is launched before spot, and spot before on-demand.
    """
    matching = compatible_offerings(offerings, requirements, well_known)
    for kind in (RESERVED, SPOT, ON_DEMAND):
        only = Requirements([Requirement.of(CAPACITY_TYPE, "In", (kind,))])
        prices = [
            offering.price
            for offering in compatible_offerings(matching, only, well_known)
        ]
        if prices:
            return max(prices)
    return UNKNOWN_PRICE


def order_by_price(
    types: Sequence[InstanceType],
    requirements: Requirements,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> list[InstanceType]:
    """Return types by the cheapest offering that meets requirements."""
    listed = tuple(types)
    labels = _offering_labels(listed)
    by_label = tuple(map(requirements.by_key.get, labels))
    return [*_ordered(listed, by_label, well_known)]


@functools.lru_cache(maxsize=_KEPT_ORDERS)
def _offering_labels(types: tuple[InstanceType, ...]) -> Sequence[str]:
    """Return the labels that offerings of the types require."""
    return tuple({label: None for each in types for label in each.offering_labels})


# A consolidation orders the types of a claim for each node, which took half of a look
# at 1,000 full nodes. Many of these claims can have the same types; and only the
# requirements on labels of offerings decide on prices.
@functools.lru_cache(maxsize=_KEPT_ORDERS)
def _ordered(
    types: tuple[InstanceType, ...],
    by_label: tuple[Requirement | None, ...],
    well_known: frozenset[str],
) -> Sequence[InstanceType]:
    requirements = Requirements(each for each in by_label if each is not None)
    prices = {
        id(each): cheapest_launch_price(each, requirements, well_known)
        for each in types
    }
    return sort_slice(types, lambda each: prices[id(each)])


@attrs.frozen
class MinValuesCheck:
    """Whether types have enough values of each label.

    Attributes:
        needed_types: How many of them are needed.
        missing: The labels with too few values, and how many there are.
    """

    needed_types: int
    missing: Mapping[str, int]

    @property
    def problem(self) -> str:
        """Upstream's error, or empty."""
        if not self.missing:
            return ""
        names = " ".join(sorted(self.missing))
        text = "minValues requirement is not met for label(s)"
        return f"{text} (label(s)=[{names}])"


def satisfies_min_values(
    types: Sequence[InstanceType], requirements: Requirements
) -> MinValuesCheck:
    """Return whether types have as many values as requirements say."""
    least = {r.key: r for r in requirements if r.min_values is not None}
    if not least:
        return MinValuesCheck(0, {})
    values: dict[str, set[str]] = {key: set() for key in least}
    missing: dict[str, int] = {}
    for number, each in enumerate(types, start=1):
        missing = {}
        for key, requirement in least.items():
            offered = each.requirements.get(key).values
            values[key].update(filter(requirement.has, offered))
            if len(values[key]) < (requirement.min_values or 0):
                missing[key] = len(values[key])
        if not missing:
            return MinValuesCheck(number, {})
    return MinValuesCheck(len(types), missing)


def truncated(
    types: Sequence[InstanceType],
    requirements: Requirements,
    count: int,
    *,
    best_effort: bool,
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> tuple[list[InstanceType], str]:
    """Return the cheapest types, and why there are too few values, or empty."""
    cheapest = order_by_price(types, requirements, well_known)
    kept = cheapest[:count]
    if requirements.has_min_values and not best_effort:
        problem = satisfies_min_values(kept, requirements).problem
        if problem:
            return cheapest, f"validating minValues, {problem}"
    return kept, ""
