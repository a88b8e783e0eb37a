"""From what to what a size or a cost may be.

Mirrors ``SizeEstimate`` and ``CostEstimate`` of ``checker/cost.go`` (cel-go v0.26.0):
both end at the greatest integer without a sign.
"""

import math
from typing import Final

import attrs

from kubernetes_cel.values import MAX_UINT

__all__ = ["UNKNOWN", "Range", "just"]


@attrs.frozen
class Range:
    """From what to what something may be.

    Attributes:
        least: The least that it may be.
        most: The most that it may be.
    """

    least: int
    most: int

    def plus(self, other: "Range") -> "Range":
        """Return the range of sums."""
        return Range(
            min(self.least + other.least, MAX_UINT),
            min(self.most + other.most, MAX_UINT),
        )

    def times(self, other: "Range") -> "Range":
        """Return the range of products."""
        return Range(
            min(self.least * other.least, MAX_UINT),
            min(self.most * other.most, MAX_UINT),
        )

    def scaled(self, factor: float) -> "Range":
        """Return the range times a factor, rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: "Range") -> "Range":
        """Return the range that both are within."""
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(number: int, factor: float) -> int:
    product = float(number) * factor
    return MAX_UINT if product >= 2.0**64 else math.ceil(product)


def just(number: int) -> Range:
    """Return the range of one number."""
    return Range(number, number)


UNKNOWN: Final = Range(0, MAX_UINT)
"""Any size or cost."""
