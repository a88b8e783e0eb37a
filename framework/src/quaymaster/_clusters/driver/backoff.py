"""Delays after failures, which grow with each failure."""

import random
from collections.abc import Callable
from typing import Final

__all__ = ["Backoff"]

_FIRST: Final = 0.8  # seconds
_LONGEST: Final = 30.0
_SECONDS_TO_FORGET: Final = 120.0


class Backoff:
    """Delays that double, each with up to 100 % jitter.

    They start again at the shortest one if the last was requested two minutes ago. The
    numbers are those of reflectors (k8s.io/client-go v0.36,
    ``tools/cache/reflector.go``).

    Args:
        now: Returns the seconds of a monotonic clock.
        uniform: Returns a random number between two.
    """

    def __init__(
        self,
        now: Callable[[], float],
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._now = now
        self._uniform = uniform
        self._base = _FIRST
        self._last_at = now()

    def reset(self) -> None:
        """Start again at the shortest delay, because the server works."""
        self._base = _FIRST

    def next(self) -> float:
        """Return the next delay in seconds."""
        now = self._now()
        if now - self._last_at > _SECONDS_TO_FORGET:
            self._base = _FIRST
        self._last_at = now
        base, self._base = self._base, min(2 * self._base, _LONGEST)
        return self._uniform(base, 2 * base)
