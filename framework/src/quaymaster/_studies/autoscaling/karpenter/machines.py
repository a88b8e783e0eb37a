"""The machines of a simulation, and what the cloud has of them."""

import fnmatch
import random
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim

__all__ = ["Failure", "LaunchTimes", "Machine", "OfferingKey", "Stock"]

OfferingKey = tuple[str, str, str]
"""Type, zone and capacity type."""

_NO_CAPACITY_SECONDS: Final = 180.0
"""How long a cloud provider remembers that an offering had no capacity (AWS)."""


@attrs.frozen(kw_only=True)
class LaunchTimes:
    """How long the steps of a machine take, in seconds.

    Attributes:
        launch: Until the cloud has accepted the order.
        registration: From then on until the node is in the cluster.
        readiness: From then on until the node is ready.
        startup_taints: From then on until its startup taints are taken off.
        termination: From the end of the drain until the node is gone.
    """

    launch: float = 2.0
    registration: float = 30.0
    readiness: float = 10.0
    startup_taints: float = 0.0
    termination: float = 0.0

    @property
    def total(self) -> float:
        """From the order until pods can start."""
        return self.launch + self.registration + self.readiness + self.startup_taints


@attrs.frozen(kw_only=True)
class Failure:
    """Offerings that the cloud does not have for some time, or whose nodes fail.

    Attributes:
        type: A pattern of types, such as ``m5.*``.
        zone: A pattern of zones.
        capacity_type: A pattern of capacity types.
        since: From when on, in seconds since the beginning.
        until: Until when.
        registers: False if the cloud has them, but their nodes never register.
    """

    type: str = "*"
    zone: str = "*"
    capacity_type: str = "*"
    since: float = 0.0
    until: float = float("inf")
    registers: bool = True

    def covers(self, key: OfferingKey, seconds: float) -> bool:
        """Return whether an offering fails at a time."""
        return self.since <= seconds < self.until and all(
            fnmatch.fnmatchcase(value, pattern)
            for value, pattern in zip(
                key, (self.type, self.zone, self.capacity_type), strict=True
            )
        )


@attrs.define(eq=False)
class Machine:
    """A machine of a pool; times in seconds since the epoch.

    Attributes:
        claim: The name of its claim.
        pool: The name of its pool.
        price: Its price per hour; None if it is unknown.
        ordered: When it was ordered.
        node: The name of its node, or of its claim before.
        registered: When its node came; None before.
        ready: When its node became ready.
        ended: When it was deleted; None while it exists.
        is_original: Whether it was there from the beginning.
        added_for: Why it was ordered.
        removed_for: Why it was deleted.
        offering: Its type, zone and capacity type; empty until it is launched.
    """

    claim: str
    pool: str
    ordered: float
    price: float | None = None
    node: str = ""
    registered: float | None = None
    ready: float | None = None
    ended: float | None = None
    is_original: bool = False
    added_for: str = ""
    removed_for: str = ""
    offering: str = ""


class Stock:
    """What the cloud has, and what Karpenter has seen of it.

    Args:
        types: What it offers to each pool.
        options: The options of Karpenter.
        failures: What it lacks at times, and which machines fail.
        start: The beginning of the simulation.
        seed: Draws among offerings of the same price.
    """

    def __init__(
        self,
        types: Mapping[str, Sequence[InstanceType]],
        options: KarpenterOptions,
        failures: Sequence[Failure],
        start: float,
        seed: int,
    ) -> None:
        self._types = types
        self._options = options
        self._failures = failures
        self._start = start
        self._chance = random.Random(seed)
        self._missing: dict[OfferingKey, float] = {}
        self._made: tuple[frozenset[OfferingKey], Mapping[str, Sequence[InstanceType]]]
        self._made = (frozenset(), types)

    def types(self, now: float) -> Mapping[str, Sequence[InstanceType]]:
        """Return the types of each pool, as far as Karpenter knows at a time."""
        missing = self.missing(now)
        if missing != self._made[0]:
            self._made = (missing, self._without(missing))
        return self._made[1]

    def missing(self, now: float) -> frozenset[OfferingKey]:
        """Return the offerings that Karpenter does not try at a time."""
        return frozenset(key for key, until in self._missing.items() if until > now)

    def will_return(self, now: float) -> bool:
        """Return whether the cloud will have something that it lacks at a time."""
        ends = (each.until + self._start for each in self._failures if each.registers)
        return any(now < end < float("inf") for end in ends)

    def choose(
        self, claim: ProposedClaim, now: float
    ) -> tuple[InstanceType, Offering] | None:
        """Return the cheapest offering for a claim that the cloud has, or None.

        Those that it lacks are remembered.
        """
        well_known = self._options.well_known_labels
        by_price: dict[float, list[tuple[InstanceType, Offering]]] = {}
        for each in claim.instance_types:
            for offering in each.offerings:
                if offering.is_launchable and claim.requirements.compatible(
                    offering.requirements, well_known
                ):
                    by_price.setdefault(offering.price, []).append((each, offering))
        for price in sorted(by_price):
            there = [pair for pair in by_price[price] if self._has(pair, now)]
            if there:
                # As the kwok provider: a draw among equal prices. AWS does not always
                # launch the cheapest spot capacity.
                return self._chance.choice(there)
        return None

    def registers(
        self, instance_type: InstanceType, offering: Offering, now: float
    ) -> bool:
        """Return whether the node of a machine that is launched now will register."""
        key = _key(instance_type, offering)
        seconds = now - self._start
        return all(
            each.registers or not each.covers(key, seconds) for each in self._failures
        )

    def note_missing(self, key: OfferingKey, now: float) -> None:
        """Note that an offering has no capacity, so that it is not tried for a time."""
        self._missing[key] = now + _NO_CAPACITY_SECONDS

    def _has(self, pair: tuple[InstanceType, Offering], now: float) -> bool:
        key = _key(*pair)
        seconds = now - self._start
        if not any(
            each.registers and each.covers(key, seconds) for each in self._failures
        ):
            return True
        self.note_missing(key, now)
        return False

    def _without(
        self, missing: frozenset[OfferingKey]
    ) -> Mapping[str, Sequence[InstanceType]]:
        made: dict[int, InstanceType] = {}
        for types in self._types.values():
            for each in types:
                if id(each) not in made:
                    made[id(each)] = _lacking(each, missing)
        return {
            pool: [made[id(each)] for each in types]
            for pool, types in self._types.items()
        }


def _key(instance_type: InstanceType, offering: Offering) -> OfferingKey:
    return (instance_type.name, offering.zone, offering.capacity_type)


def _lacking(each: InstanceType, missing: frozenset[OfferingKey]) -> InstanceType:
    """Return a type without the offerings that are missing."""
    if not any(_key(each, offering) in missing for offering in each.offerings):
        return each
    offerings = [
        attrs.evolve(offering, available=False)
        if _key(each, offering) in missing
        else offering
        for offering in each.offerings
    ]
    return attrs.evolve(each, offerings=offerings)
