"""The fence: whether this process may still write."""

import math
import time
from collections.abc import Callable
from typing import Final, Self

__all__ = ["Fence", "boot_seconds"]

_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def boot_seconds() -> float:
    """Return the seconds of a monotonic clock that runs while the machine sleeps.

    Systems without such a clock, such as macOS, use one that may stop meanwhile.
    """
    if _BOOT_CLOCK is None:
        return time.monotonic()
    return time.clock_gettime(_BOOT_CLOCK)


class Fence:
    """Decides whether a write may be sent: only while the lease is certainly held.

    It closes when its time has passed, so it is also correct after a long pause of this
    process. A closed fence stays closed. Any thread may call it.

    Args:
        length: For how many seconds a renewal keeps it open.
        clock: Returns the seconds of a monotonic clock.
    """

    def __init__(
        self, length: float, *, clock: Callable[[], float] = boot_seconds
    ) -> None:
        self._length = length
        self._clock = clock
        self._until = -math.inf
        self._is_shut = False

    @classmethod
    def always_open(cls) -> Self:
        """Create the fence of a process without an election."""
        fence = cls(math.inf)
        fence.open(0.0)
        return fence

    def may_write(self) -> bool:
        """Return whether a write may be sent now; call it immediately before."""
        return self._clock() < self._until and not self._is_shut

    def seconds_left(self) -> float:
        """Return for how long it stays open without a renewal; 0 if it is closed."""
        return 0.0 if self._is_shut else max(0.0, self._until - self._clock())

    def open(self, started: float) -> bool:
        """Open it for the first time; see `renew`."""
        # From before the request was sent, since the server may have renewed the lease
        # any time after that.
        self._until = started + self._length
        return self.may_write()

    def renew(self, started: float) -> bool:
        """Keep it open after a renewal.

        Args:
            started: When the renewal began, before its request was sent.

        Returns:
            Whether it is open; False if the renewal was too late.
        """
        return self.may_write() and self.open(started)

    def shut(self) -> None:
        """Close it for good."""
        self._is_shut = True
