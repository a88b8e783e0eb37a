"""Choices that upstream leaves to the order of a map.

Zones with equally many pods, the first domain of an affinity and the value of an open
label are drawn here and nowhere else.
"""

import random
from collections.abc import Collection

__all__ = ["Chance"]


class Chance:
    """Draws one of several equal values.

    Args:
        seed: Draws by it; None takes the first value by name.
    """

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else random.Random(seed)

    def choice(self, values: Collection[str]) -> str:
        """Return one of some values."""
        # Without a seed the smallest value is taken, so that explanations repeat. In
        # Karpenter the iteration order of Go's maps decides.
        if self._random is None or len(values) == 1:
            return min(values)
        return self._random.choice(sorted(values))

    def number(self, least: int, most: int) -> int:
        """Return a number between two, with both."""
        return least if self._random is None else self._random.randint(least, most)
