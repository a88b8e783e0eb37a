"""The clock of one process, whose timers end with it."""

import threading
from collections.abc import Callable

from quaymaster.scheduler import Clock, Timer

__all__ = ["ProcessClock"]


class ProcessClock(Clock):
    """A clock of one process: its timers are cancelled when the process ends.

    Args:
        clock: The clock behind it.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._made: list[Timer] = []

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        return self._clock.now()

    def wait(self, woken: threading.Event) -> bool:
        """Let time pass; see `Clock.wait`."""
        return self._clock.wait(woken)

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        """Call a function at a time, unless the process has ended before."""
        timer = self._clock.call_at(due, callback, background=background)
        self._made.append(timer)
        return timer

    def next_due(self) -> float | None:
        """Return when the next timer of any process is due."""
        return self._clock.next_due()

    @property
    def has_foreground_timers(self) -> bool:
        """Whether a timer is left that is not in the background."""
        return self._clock.has_foreground_timers

    def run_due(self) -> int:
        """Run every timer of any process that is due by now."""
        return self._clock.run_due()

    def end(self) -> None:
        """End the process: cancel its timers."""
        for timer in self._made:
            timer.cancel()
