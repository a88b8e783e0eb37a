"""Ranges of sizes and costs.

Mirrors ``SizeEstimate`` and ``CostEstimate`` of ``checker/cost.go`` (cel-go v0.26.0).
Their limit is the greatest unsigned integer of 64 bits.
"""

import math
from typing import Final

import attrs

from kubernetes_cel.values import MAX_UINT

__all__ = ["UNKNOWN", "Range", "just"]


@attrs.frozen
class Range:
    """The range of a size or a cost.

    Attributes:
        least: The minimum.
        most: The maximum.
    """

    least: int
    most: int

    def plus(self, other: "Range") -> "Range":
        """Return the sum of two ranges."""
        return Range(
            # Saturating, as upstream's ``addUint64NoOverflow``: an estimate that is too
            # large must not become a small one.
            min(self.least + other.least, MAX_UINT),
            min(self.most + other.most, MAX_UINT),
        )

    def times(self, other: "Range") -> "Range":
        """Return the product of two ranges."""
        return Range(
            min(self.least * other.least, MAX_UINT),
            min(self.most * other.most, MAX_UINT),
        )

    def scaled(self, factor: float) -> "Range":
        """Return the range times a factor, rounded up."""
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: "Range") -> "Range":
        """Return the smallest range that contains both."""
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(number: int, factor: float) -> int:
    product = float(number) * factor
    # A float of this size would wrap around in Go, which tests for it, too.
    return MAX_UINT if product >= 2.0**64 else math.ceil(product)


def just(number: int) -> Range:
    """Return the range of one number."""
    return Range(number, number)


UNKNOWN: Final = Range(0, MAX_UINT)
"""Any size or cost."""
