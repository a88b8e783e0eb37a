"""Decides whether the engine works, because only then its lease is renewed."""

import time
from collections.abc import Callable
from typing import Final

__all__ = ["Liveness", "seconds_between_signs"]

_SECONDS_OF_A_TURN: Final = 60.0
"""A longer turn counts as a hang. Some turns are long, such as the one in which the
engine reads a list of 100,000 pods."""

_SHORTEST_SILENCE: Final = 5.0  # seconds; a process may get no CPU time for so long
_MOST_SECONDS_BETWEEN_SIGNS: Final = 2.0


def seconds_between_signs(renew_seconds: float) -> float:
    """Return the seconds between two signs of life of the engine's process.

    Args:
        renew_seconds: The renew deadline of the lease.
    """
    return min(_MOST_SECONDS_BETWEEN_SIGNS, renew_seconds / 5)


class Liveness:
    """Distinguishes an engine that works from one that is stopped or hangs.

    A separate thread of the engine's process sends a sign of life every few seconds,
    and the engine's loop reports its turns.

    Args:
        renew_seconds: The renew deadline of the lease, which also limits the silence of
            the process.
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(
        self, renew_seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._silence = max(renew_seconds, _SHORTEST_SILENCE)
        self._now = now
        self._last_sign = now()
        self._last_turn: float | None = None

    def note_sign(self) -> None:
        """Note that the process runs."""
        self._last_sign = self._now()

    def note_turn(self) -> None:
        """Note that the engine has completed a turn; the first one may take long."""
        self._last_turn = self._last_sign = self._now()

    def is_alive(self) -> bool:
        """Return whether the engine works, judging by its messages."""
        now, turn = self._now(), self._last_turn
        if now - self._last_sign > self._silence:
            return False
        return turn is None or now - turn < _SECONDS_OF_A_TURN
