"""Keeps what happens again and again from filling the log."""

from collections.abc import Callable, Hashable
from typing import Final

__all__ = ["SeldomLog"]

_SECONDS_BETWEEN: Final = 60.0  # chosen: seldom enough to be read


class SeldomLog:
    """Lets each kind of message through once in a minute, and counts the others.

    Args:
        now: Returns the time, in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._silent_until: dict[Hashable, float] = {}
        self._unsaid: dict[Hashable, int] = {}

    def unsaid(self, key: Hashable) -> int | None:
        """Ask whether to log a message now.

        Args:
            key: What the message is about.

        Returns:
            How many were left out since the last one; None if this is left out, too.
        """
        now = self._now()
        if now < self._silent_until.get(key, now):
            self._unsaid[key] = self._unsaid.get(key, 0) + 1
            return None
        self._silent_until[key] = now + _SECONDS_BETWEEN
        return self._unsaid.pop(key, 0)
