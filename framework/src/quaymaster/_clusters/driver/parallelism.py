"""Limits the requests in flight of a lane to the number that raises its throughput."""

import math
from typing import Final

__all__ = ["Parallelism"]

_SHORTEST_LOOK: Final = 1.0  # seconds
_ANSWERS_EACH: Final = 2  # responses per request in flight, for one measurement
_GAIN: Final = 1.5
"""By how much twice as many requests must raise the rate of responses. A server that
waits for a disk or a quorum answers up to twice as many. A server without spare CPU
answers no more, and each connection costs it a handshake."""

_REST: Final = 60.0  # seconds to the next attempt, after one without effect
_GAP: Final = 1.0  # seconds without pressure, after which a measurement restarts


class Parallelism:
    """Adapts the number of requests in flight while the server responds slowly.

    It doubles the limit, and keeps that if the rate of responses grows by half.

    Args:
        few: The first limit, which is also the lowest.
        most: The highest limit.

    Attributes:
        limit: The most requests in flight now.
    """

    def __init__(self, few: int, most: int) -> None:
        self._few = min(few, most)
        self._most = most
        self.limit = self._few
        self._answers = 0
        self._begun: float | None = None
        self._pressed = -math.inf
        self._rate: float | None = None  # with half as many, while more are tried
        self._rested = -math.inf

    def answered(self) -> None:
        """Note a response."""
        self._answers += 1

    def press(self, now: float) -> None:
        """Note that the limit is reached and more requests wait.

        It must be called repeatedly while that is the case.

        Args:
            now: The seconds of a monotonic clock.
        """
        silent, self._pressed = now - self._pressed, now
        if silent > _REST:
            self._take(self._few, None)  # the server may have changed
        elif silent > _GAP:
            self._begun = None
        if self._begun is None:
            self._begun, self._answers = now, 0
        else:
            self._look(now - self._begun, now)

    def _look(self, lasted: float, now: float) -> None:
        if lasted < _SHORTEST_LOOK or self._answers < _ANSWERS_EACH * self.limit:
            return
        rate, before = self._answers / lasted, self._rate
        if before is not None and rate < _GAIN * before:
            self._rested = now + _REST
            self._take(self._half, None)
        elif now >= self._rested and self.limit < self._most:
            self._take(min(2 * self.limit, self._most), rate)
        else:
            self._take(self.limit, None)

    @property
    def _half(self) -> int:
        return max(self._few, self.limit // 2)

    def _take(self, limit: int, rate: float | None) -> None:
        """Set the limit, and measure again once it is reached."""
        self.limit, self._rate, self._begun = limit, rate, None
