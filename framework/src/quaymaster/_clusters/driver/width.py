"""How many requests of a lane are under way at once: as many as bring more answers."""

import math
from typing import Final

__all__ = ["Width"]

_SHORTEST_LOOK: Final = 1.0  # seconds
_ANSWERS_EACH: Final = 2  # that a look takes of each request that may be under way
_GAIN: Final = 1.5
"""By how much twice as many requests have to raise the rate of answers. A server that
waits for a disk or a quorum answers up to twice as many; one that is short of processor
time answers no more, and each connection costs it a handshake."""

_REST: Final = 60.0  # seconds to the next try, after one that was of no use
_GAP: Final = 1.0  # seconds without pressure, after which a look begins anew


class Width:
    """Finds out how many requests are of use, while the server is slow to answer.

    It tries twice as many, and keeps that if it brings more answers.

    Args:
        few: How many there may be at first, and always.
        most: How many there may ever be.

    Attributes:
        limit: How many there may be now.
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
        """Take note of an answer."""
        self._answers += 1

    def press(self, now: float) -> None:
        """Take note that as many are under way as may be, and more wait.

        To be called again and again while it is so.

        Args:
            now: Seconds, by a clock that nobody sets.
        """
        silent, self._pressed = now - self._pressed, now
        if silent > _REST:
            self._take(self._few, None)  # the server may be another one by now
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
        """Look anew, once as many are under way as may be."""
        self.limit, self._rate, self._begun = limit, rate, None
