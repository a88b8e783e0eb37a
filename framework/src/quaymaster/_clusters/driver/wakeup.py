"""Wakes all threads that wait for the server."""

import math
import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["Wakeup"]

_SECONDS_BETWEEN: Final = 10.0


class Wakeup:
    """A wait that another thread can end for all waiting threads.

    It wakes them once in ten seconds at most. Otherwise threads whose retries fail at
    once could wake each other without end.

    Args:
        now: Returns the seconds of a monotonic clock.

    Attributes:
        count: How often it has woken the threads.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._changed = threading.Condition()
        self.count = 0
        self._woke_at = -math.inf

    def wait(self, seconds: float) -> None:
        """Wait for some seconds, or until `wake_all` is called."""
        with self._changed:
            count = self.count
            self._changed.wait_for(lambda: self.count != count, seconds)

    def wake_all(self) -> None:
        """Wake all waiting threads, unless that was done in the last ten seconds."""
        with self._changed:
            now = self._now()
            if now - self._woke_at >= _SECONDS_BETWEEN:
                self._woke_at = now
                self.count += 1
                self._changed.notify_all()
