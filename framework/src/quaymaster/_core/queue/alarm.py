"""A background timer that is set only when there is something to do."""

from collections.abc import Callable

from quaymaster._core.contract.clock import Clock, Timer

__all__ = ["Alarm"]


class Alarm:
    """A background timer for the earliest time that was set since it last fired.

    Args:
        clock: Runs the timer.
        ring: Called when the timer fires; it may set the alarm again.
    """

    __slots__ = ("_clock", "_ring", "_timer")

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._timer: Timer | None = None

    def set(self, due: float) -> None:
        """Fire at ``due``, unless the alarm is set for an earlier time."""
        if self._timer is not None:
            if self._timer.due <= due:
                return
            self._timer.cancel()
        # In the background: a pod that only waits for a flush must not keep a
        # simulation from ending.
        self._timer = self._clock.call_at(due, self._fire, background=True)

    def cancel(self) -> None:
        """Do not fire until it is set again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fire(self) -> None:
        self._timer = None
        self._ring()
