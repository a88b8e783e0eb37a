"""NodeOverlays: other prices and more resources of types.

Mirrors ``pkg/controllers/nodeoverlay`` (sigs.k8s.io/karpenter v1.15): overlays with
larger weights win, and one that conflicts with another of its weight does nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, amounts_of
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
    compatible_offerings,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    NODE_POOL,
    WELL_KNOWN_LABELS,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodeOverlay, NodePool
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)

__all__ = ["adjusted_price", "with_overlays"]


@attrs.define(eq=False)
class _Change:
    """What overlays change in one type of one pool.

    Attributes:
        prices: By the labels of an offering: the change, and the lowest weight so far.
        capacity: The resources that are added.
        last_capacity: Those of the overlay that came last.
        last_weight: Its weight.
    """

    prices: dict[str, tuple[str, int]] = attrs.field(factory=dict)
    capacity: Amounts = attrs.field(factory=dict)
    last_capacity: Amounts = attrs.field(factory=dict)
    last_weight: int = 0


class _Store:
    def __init__(
        self,
        pools: Sequence[NodePool],
        types: Mapping[str, Sequence[InstanceType]],
        well_known: frozenset[str],
    ) -> None:
        self._pools = [pool for pool in pools if pool.name in types]
        self._types = types
        self._well_known = well_known
        self._changes: dict[tuple[str, str], _Change] = {}

    def add(self, overlay: NodeOverlay) -> bool:
        """Apply an overlay; return whether it conflicts with another one."""
        selected = [
            ((pool.name, each.name), offerings)
            for pool in self._pools
            for each in self._types[pool.name]
            if (offerings := self._selected(pool, each, overlay))
        ]
        for key, offerings in selected:
            if self._conflicts(key, offerings, overlay):
                return True
        for key, offerings in selected:
            self._store(key, offerings, overlay)
        return False

    def _selected(
        self, pool: NodePool, each: InstanceType, overlay: NodeOverlay
    ) -> list[Offering]:
        """Return the offerings of a type that an overlay is for."""
        required = Requirements.from_conditions(overlay.spec.requirements)
        own = Requirements([Requirement.of(NODE_POOL, "In", (pool.name,))])
        own.add(Requirements.from_labels(pool.spec.template.metadata.labels))
        own.add(each.requirements)
        if not own.compatible(required):
            return []
        return compatible_offerings(each.offerings, required, self._well_known)

    def _conflicts(
        self, key: tuple[str, str], offerings: Iterable[Offering], overlay: NodeOverlay
    ) -> bool:
        change = self._changes.get(key)
        if change is None:
            return False
        if _price_of(overlay) is not None:
            for offering in offerings:
                present = change.prices.get(str(offering.requirements))
                if present is not None and present[1] == overlay.weight:
                    return True
        # Compared with the last overlay only, as upstream
        # (``isCapacityUpdateConflicting``, store.go). So of three with one weight, the
        # first and the third may change the same resource, and the first one wins.
        same_weight = change.last_weight == overlay.weight
        return same_weight and any(
            name in change.last_capacity for name in overlay.spec.capacity
        )

    def _store(
        self, key: tuple[str, str], offerings: Iterable[Offering], overlay: NodeOverlay
    ) -> None:
        change = self._changes.setdefault(key, _Change())
        price = _price_of(overlay)
        for offering in offerings if price is not None else ():
            labels = str(offering.requirements)
            first = change.prices.get(labels, (price or "", 0))[0]
            change.prices[labels] = (first, overlay.weight)
        if overlay.spec.capacity:
            capacity = amounts_of(overlay.spec.capacity)
            change.capacity = {**capacity, **change.capacity}
            change.last_capacity = capacity
            change.last_weight = overlay.weight

    def changed(self, pool: str, each: InstanceType) -> InstanceType:
        """Return a type as the overlays change it."""
        change = self._changes.get((pool, each.name))
        if change is None:
            return each
        return attrs.evolve(
            each,
            capacity={**each.capacity, **change.capacity},
            has_capacity_overlay=each.has_capacity_overlay or bool(change.capacity),
            offerings=[_repriced(o, change.prices) for o in each.offerings],
        )


def with_overlays(
    types: Mapping[str, Sequence[InstanceType]],
    pools: Sequence[NodePool],
    overlays: Iterable[NodeOverlay],
    well_known: frozenset[str] = WELL_KNOWN_LABELS,
) -> Mapping[str, Sequence[InstanceType]]:
    """Return the types of each pool as overlays change them."""
    store = _Store(pools, types, well_known)
    for overlay in _in_order(overlays):
        store.add(overlay)
    return {
        pool: [store.changed(pool, each) for each in listed]
        for pool, listed in types.items()
    }


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    return sorted(overlays, key=lambda each: (each.weight, each.name), reverse=True)


def _price_of(overlay: NodeOverlay) -> str | None:
    if overlay.spec.price is not None:
        return overlay.spec.price
    return overlay.spec.price_adjustment


def _repriced(offering: Offering, prices: Mapping[str, tuple[str, int]]) -> Offering:
    change = prices.get(str(offering.requirements))
    if change is None:
        return offering
    price = adjusted_price(offering.price, change[0])
    # Upstream copies the offering without its overrides.
    return attrs.evolve(
        offering,
        price=price,
        has_price_overlay=True,
        capacity_override={},
        overhead_override=None,
    )


def adjusted_price(price: float, change: str) -> float:
    """Return a price after a change such as ``0.5``, ``+0.1`` or ``-20%``."""
    if not change:
        return price
    if change[0] not in "+-":
        return float(change)
    if change.endswith("%"):
        changed = price * (1 + float(change[:-1]) / 100)
    else:
        changed = price + float(change)
    return max(changed, 0.0)
