"""How long to wait after each failure."""

import random
from collections.abc import Callable
from typing import Final

__all__ = ["Backoff"]

_FIRST: Final = 0.8  # seconds
_LONGEST: Final = 30.0
_SECONDS_TO_FORGET: Final = 120.0


class Backoff:
    """Waits that double, each made up to twice as long by chance.

    They begin anew if the last one was asked for long ago. The numbers are those of
    reflectors (k8s.io/client-go v0.36, ``tools/cache/reflector.go``).

    Args:
        now: Seconds of some clock that only goes forward.
        uniform: Chooses a number between two.
    """

    def __init__(
        self,
        now: Callable[[], float],
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._now = now
        self._uniform = uniform
        self._base = _FIRST
        self._asked_at = now()

    def reset(self) -> None:
        """Begin anew: all is well."""
        self._base = _FIRST

    def next(self) -> float:
        """The seconds to wait now."""
        now = self._now()
        if now - self._asked_at > _SECONDS_TO_FORGET:
            self._base = _FIRST
        self._asked_at = now
        base, self._base = self._base, min(2 * self._base, _LONGEST)
        return self._uniform(base, 2 * base)
