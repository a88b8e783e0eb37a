"""Reserved capacity that the claims of a round use up.

Mirrors ``reservationmanager.go`` and ``offeringsToReserve`` (sigs.k8s.io/karpenter
v1.15, ``pkg/controllers/provisioning/scheduling``).
"""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.labels import RESERVED
from quaymaster._studies.autoscaling.karpenter.solve.refusals import Cause, Refusal

__all__ = ["Reservations", "reserved_offerings"]

_NONE_LEFT = (
    "one or more instance types with compatible reserved offerings are available, "
    "but could not be reserved"
)
_ALL_FULL = (
    "all compatible reserved offerings are full "
    "and no on-demand or spot fallback is available"
)
_ONLY_FULL = (
    "the only compatible reserved offering is full; falling through to other NodePools"
)
_WOULD_REMOVE = (
    "satisfying updated nodeclaim constraints would remove "
    "all compatible reserved offering options"
)


class Reservations:
    """Counts the nodes that each reservation still has.

    Args:
        offerings: The reserved offerings of all types.
        credits: Nodes that reservations get back, as a disruption frees them.
        strict: Whether a pod waits rather than leaves reserved capacity.
    """

    def __init__(
        self,
        offerings: Iterable[Offering],
        credits: Mapping[str, int],  # noqa: A002  # upstream's word
        *,
        strict: bool,
    ) -> None:
        self._capacity: dict[str, int] = {}
        self._credits = credits
        self._strict = strict
        self._held: dict[str, set[str]] = {}
        for offering in offerings:
            name = offering.reservation_id
            # Pools may share a reservation, and their types may have been read at
            # different times. The least is certainly free.
            left = self._capacity.get(name, offering.reservation_capacity)
            self._capacity[name] = min(left, offering.reservation_capacity)
        for name, count in credits.items():
            if name in self._capacity:
                self._capacity[name] += count

    @property
    def are_empty(self) -> bool:
        """Whether no type has reserved capacity."""
        return not self._capacity

    def to_reserve(
        self, host: str, offerings: Iterable[Offering], held: Sequence[Offering]
    ) -> Sequence[Offering] | Refusal:
        """Return the reserved offerings that a claim can have.

        Args:
            host: The claim.
            offerings: All offerings that it can still be launched in.
            held: The reserved offerings that it has so far.
        """
        with_capacity = full = fallback = False
        reserved = []
        for offering in offerings:
            name = offering.reservation_id
            if offering.capacity_type != RESERVED:
                fallback = True
            elif not offering.reservation_capacity and not self._credits.get(name):
                full = True
            else:
                with_capacity = True
                if name in self._held.get(host, ()) or self._capacity[name]:
                    reserved.append(offering)
        return reserved or self._without(
            with_capacity=with_capacity,
            only_full=full and not with_capacity and not fallback,
            had_some=bool(held),
        )

    def _without(
        self, *, with_capacity: bool, only_full: bool, had_some: bool
    ) -> Sequence[Offering] | Refusal:
        """Return no offerings, or why a claim must not go on without."""
        text = ""
        if self._strict and with_capacity:
            text = _NONE_LEFT
        elif only_full:
            text = _ALL_FULL if self._strict else _ONLY_FULL
        elif self._strict and had_some:
            text = _WOULD_REMOVE
        if not text:
            return []
        cause = Cause.RESERVATION
        return Refusal(text.__str__, is_deferral=self._strict, cause=cause)

    def hold(
        self, host: str, held: Iterable[Offering], offerings: Sequence[Offering]
    ) -> None:
        """Let a claim hold these offerings instead of those before."""
        names = self._held.setdefault(host, set())
        for offering in offerings:
            if offering.reservation_id not in names:
                names.add(offering.reservation_id)
                self._capacity[offering.reservation_id] -= 1
        kept = {offering.reservation_id for offering in offerings}
        for offering in held:
            name = offering.reservation_id
            if name not in kept and name in names:
                names.discard(name)
                self._capacity[name] += 1


def reserved_offerings(
    types: Mapping[str, Sequence[InstanceType]],
) -> Sequence[Offering]:
    """Return the reserved offerings of the types of pools."""
    return [
        offering
        for listed in types.values()
        for each in listed
        for offering in each.offerings
        if offering.capacity_type == RESERVED
    ]
