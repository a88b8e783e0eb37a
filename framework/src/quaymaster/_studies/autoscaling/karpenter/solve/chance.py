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
        failed_draws: How many solves before this one failed by a draw. Each takes the
            next value.

    Attributes:
        most: The largest number of values drawn from in the attempt; 1 without draws.
    """

    def __init__(self, seed: int | None, failed_draws: int = 0) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._failed_draws = failed_draws
        self._failed = 0
        self.most = 1

    def begin(self, failed: int) -> None:
        """Begin an attempt.

        Args:
            failed: How many attempts for the pod have failed in this solve. Without a
                seed, each attempt takes the next value by name.
        """
        self._failed = failed
        self.most = 1

    def choice(self, values: Collection[str]) -> str:
        """Return one of some values."""
        ordered = sorted(values)
        # Without a seed the smallest value is taken first, so that explanations repeat.
        # In Karpenter the iteration order of Go's maps decides, again at each attempt:
        # a pod whose first zone has no type for it is often placed in another one.
        self.most = max(self.most, len(ordered))
        index = self._failed
        if self._random is not None and len(ordered) > 1:
            index = self._random.randrange(len(ordered))
        return ordered[(index + self._failed_draws) % len(ordered)]

    def number(self, least: int, most: int) -> int:
        """Return a number between two, with both."""
        return least if self._random is None else self._random.randint(least, most)
