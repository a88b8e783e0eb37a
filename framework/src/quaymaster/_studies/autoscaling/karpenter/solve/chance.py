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

    Attributes:
        attempt: How many attempts for the pod have failed in this solve. Without a
            seed, each attempt takes the next value by name.
    """

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else random.Random(seed)
        self.attempt = 0

    def choice(self, values: Collection[str]) -> str:
        """Return one of some values."""
        ordered = sorted(values)
        # Without a seed the smallest value is taken first, so that explanations repeat.
        # In Karpenter the iteration order of Go's maps decides, again at each attempt:
        # a pod whose first zone has no type for it is often placed in another one.
        if self._random is None or len(ordered) == 1:
            return ordered[self.attempt % len(ordered)]
        return self._random.choice(ordered)

    def number(self, least: int, most: int) -> int:
        """Return a number between two, with both."""
        return least if self._random is None else self._random.randint(least, most)
