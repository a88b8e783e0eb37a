"""Weighs nodes in whole numbers."""

from collections.abc import Sequence
from decimal import Decimal

from quaymaster._studies.planning.groups import NodeGroup

__all__ = ["Scale"]


class Scale:
    """Weighs nodes in whole numbers: first by price, then by number.

    Args:
        groups: The groups; either all have a price or none has.
        many: More nodes than there can be.
    """

    def __init__(self, groups: Sequence[NodeGroup], many: int) -> None:
        prices = [group.price for group in groups if group.price is not None]
        self._many = many if prices else 1
        digits = max((_decimals(price) for price in prices), default=0)
        self._unit = Decimal(1).scaleb(-digits) if prices else None

    def weight(self, group: NodeGroup) -> int:
        """Return the weight of a node."""
        if self._unit is None or group.price is None:
            return 1
        return int(group.price / self._unit) * self._many + 1

    def value(self, weight: int) -> Decimal:
        """Return the cost of a weight, or the number of nodes without prices."""
        if self._unit is None:
            return Decimal(weight)
        return weight // self._many * self._unit


def _decimals(price: Decimal) -> int:
    exponent = price.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
