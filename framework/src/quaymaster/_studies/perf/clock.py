"""The clock of a measured run: it follows the work, and skips waiting."""

import threading
import time
from collections.abc import Callable

from quaymaster._core.contract.clock import Clock

__all__ = ["PacedClock"]


class PacedClock(Clock):
    """A clock that follows real time during work, and skips waiting.

    During work, its seconds are the machine's: an action that runs five times a second
    runs five times per second of work. When there is no work, the clock jumps to the
    next timer, and counts the skipped seconds.

    It moves in ticks: a cluster needs no finer times, and objects that are created in
    the same tick can share their times.

    Args:
        start: The first ``now()``, in seconds since the Unix epoch; by default
            2026-01-01T00:00:00Z.
        tick_seconds: The least by which it moves during work.
        real: Returns real seconds, from any start.

    Attributes:
        skipped: How many seconds of waiting were skipped so far.
    """

    def __init__(
        self,
        start: float = 1767225600.0,
        *,
        tick_seconds: float = 0.01,
        real: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        self._now = float(start)
        self._tick = tick_seconds
        self._real = real
        self._real_at_now = real()
        self.skipped = 0.0

    def now(self) -> float:
        """Seconds since the Unix epoch, as of the last tick."""
        return self._now

    def exact(self) -> float:
        """Seconds since the Unix epoch, between ticks, too."""
        return self._now + (self._real() - self._real_at_now)

    def keep_pace(self) -> None:
        """Catch up with real time, if a tick has passed."""
        real = self._real()
        if real - self._real_at_now >= self._tick:
            self._move_to(real)

    def wait(self, woken: threading.Event) -> bool:
        """Skip to the next timer unless ``woken`` is set; False without a timer."""
        if woken.is_set():
            return True
        return self.skip()

    def skip(self, until: float | None = None) -> bool:
        """Skip to the next timer, or to a time that comes first.

        Args:
            until: Where to stop at the latest.

        Returns:
            False if there is neither a timer nor a time to stop at.
        """
        due = self.next_due()
        if due is None or (until is not None and until < due):
            due = until
        if due is None:
            return False
        self._move_to(self._real())
        if due > self._now:
            self.skipped += due - self._now
            self._now = due
        return True

    def _move_to(self, real: float) -> None:
        self._now += real - self._real_at_now
        self._real_at_now = real
