"""Limits how often the log repeats a message."""

from collections.abc import Callable, Hashable
from typing import Final

__all__ = ["SeldomLog"]

_SECONDS_BETWEEN: Final = 60.0  # chosen, not measured


class SeldomLog:
    """Passes each kind of message once in a minute, and counts the others.

    Args:
        now: Returns the time, in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._silent_until: dict[Hashable, float] = {}
        self._unsaid: dict[Hashable, int] = {}

    def unsaid(self, key: Hashable) -> int | None:
        """Return whether to log a message now, with the number of suppressed messages.

        Args:
            key: The subject of the message.

        Returns:
            The number of messages suppressed since the last one; None to suppress this
            one, too.
        """
        now = self._now()
        if now < self._silent_until.get(key, now):
            # A plugin that fails for every pod would fill the log within minutes.
            self._unsaid[key] = self._unsaid.get(key, 0) + 1
            return None
        self._silent_until[key] = now + _SECONDS_BETWEEN
        return self._unsaid.pop(key, 0)
