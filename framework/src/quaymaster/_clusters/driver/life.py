"""Whether the engine works, so that a lease is worth being renewed for it."""

import time
from collections.abc import Callable
from typing import Final

__all__ = ["Life", "seconds_between_signs"]

_SECONDS_OF_A_TURN: Final = 60.0
"""A turn that takes longer does not end any more: it hangs. Some turns of an engine are
long, such as the one in which it takes in 100,000 pods."""

_SHORTEST_SILENCE: Final = 5.0  # seconds, in which a process may just get no processor
_MOST_SECONDS_BETWEEN_SIGNS: Final = 2.0


def seconds_between_signs(renew_seconds: float) -> float:
    """How often the engine's process says that it runs.

    Args:
        renew_seconds: For how long a renewal of the lease counts.
    """
    return min(_MOST_SECONDS_BETWEEN_SIGNS, renew_seconds / 5)


class Life:
    """Tells an engine that works from one that is stopped, and from one that hangs.

    Its process says every few seconds that it runs, on a thread that does nothing else,
    and its loop that it has taken a turn.

    Args:
        renew_seconds: For how long a renewal of the lease counts: so long the process
            may be silent, too.
        now: Seconds, by a clock that nobody sets.
    """

    def __init__(
        self, renew_seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._silence = max(renew_seconds, _SHORTEST_SILENCE)
        self._now = now
        self._last_sign = now()
        self._last_turn: float | None = None

    def note_sign(self) -> None:
        """Take note that the process runs."""
        self._last_sign = self._now()

    def note_turn(self) -> None:
        """Take note that the engine has taken a turn; the first one may take long."""
        self._last_turn = self._last_sign = self._now()

    def is_there(self) -> bool:
        """Whether the engine works, as far as anybody can tell."""
        now, turn = self._now(), self._last_turn
        if now - self._last_sign > self._silence:
            return False
        return turn is None or now - turn < _SECONDS_OF_A_TURN
