"""The fence: whether this process may still write."""

import math
import time
from collections.abc import Callable
from typing import Final, Self

__all__ = ["Fence", "boot_seconds"]

_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def boot_seconds() -> float:
    """Seconds by a clock that nobody sets, and that counts while the machine sleeps.

    Where there is none, as on macOS, by one that may stand still meanwhile.
    """
    if _BOOT_CLOCK is None:
        return time.monotonic()
    return time.clock_gettime(_BOOT_CLOCK)


class Fence:
    """Says whether a write may leave: only while the lease is held for certain.

    It closes by the passing of time, so it is right as well when no thread of this
    process had its turn for long. Once closed it stays so. Asked from any thread.

    Args:
        length: For how many seconds a renewal counts.
        clock: Seconds, by a clock that nobody sets.
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
        """Make the fence of a process that takes part in no election."""
        fence = cls(math.inf)
        fence.open(0.0)
        return fence

    def may_write(self) -> bool:
        """Whether a write may leave now; to be asked right before it does."""
        return self._clock() < self._until and not self._is_shut

    def seconds_left(self) -> float:
        """For how long it stays open without another renewal; 0 if it is closed."""
        return 0.0 if self._is_shut else max(0.0, self._until - self._clock())

    def open(self, started: float) -> bool:
        """Open it for the first time; see `renew`."""
        self._until = started + self._length
        return self.may_write()

    def renew(self, started: float) -> bool:
        """Keep it open for longer.

        Args:
            started: When the renewal began: before its request was sent.

        Returns:
            Whether it is open; False if the renewal came too late.
        """
        return self.may_write() and self.open(started)

    def shut(self) -> None:
        """Close it for good."""
        self._is_shut = True
