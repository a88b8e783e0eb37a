"""Wakes all who wait for one thing."""

import math
import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["Bell"]

_SECONDS_BETWEEN: Final = 10.0


class Bell:
    """Waits that end at once, all of them, when it rings.

    It rings once in ten seconds at most: else those who fail again at once could keep
    each other awake.

    Args:
        now: Seconds, by a clock that nobody sets.

    Attributes:
        rings: How often it has rung.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._changed = threading.Condition()
        self.rings = 0
        self._rang_at = -math.inf

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until it rings."""
        with self._changed:
            rings = self.rings
            self._changed.wait_for(lambda: self.rings != rings, seconds)

    def ring(self) -> None:
        """End all waits that are under way."""
        with self._changed:
            now = self._now()
            if now - self._rang_at >= _SECONDS_BETWEEN:
                self._rang_at = now
                self.rings += 1
                self._changed.notify_all()
