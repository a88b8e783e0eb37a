"""Time, real or virtual, with one heap of timers.

The engine never reads the wall clock; it reads its `Clock`. A `VirtualClock` stands
still while the engine has work, and then jumps to the next timer.
"""

import heapq
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Final

from quaymaster._base.callback_names import callback_name
from quaymaster._base.errors import EndlessLoopError

__all__ = ["VIRTUAL_START", "Clock", "RealClock", "Timer", "VirtualClock"]

VIRTUAL_START: Final = 1767225600.0
"""The time at which simulations begin: 2026-01-01T00:00:00Z."""


# Chosen, not measured: cancelled timers stay in the heap until there are this many, and
# half of the heap, so that each cancellation costs little.
_FEW_CANCELLED = 64

_LONGEST_CHAIN: Final = 10_000
"""Chosen, not measured: so many timers may set each other without any delay."""

_log = logging.getLogger(__name__)


class Timer:
    """A call that is due at a set time, unless `cancel` stops it.

    Attributes:
        due: The time, in seconds since the Unix epoch.
        background: Whether it is only housekeeping, such as a periodic flush. A
            simulation ends when only background timers are left.
    """

    __slots__ = ("__weakref__", "_clock", "background", "callback", "due")

    def __init__(
        self,
        clock: "Clock",
        due: float,
        callback: Callable[[], None],
        background: bool,
    ) -> None:
        self._clock = clock
        self.due = due
        self.background = background
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Cancel the call. Cancelling twice, or after it ran, does nothing."""
        self._clock._cancel(self)


class Clock(ABC):
    """Returns the time and keeps the timers of one engine and its cluster.

    Timers run on the thread that calls `run_due`, in the order of their due times, and
    those of one time in the order in which they were set.
    """

    def __init__(self) -> None:
        self._timers: list[tuple[float, int, Timer]] = []
        self._set = 0
        self._foreground = 0
        self._cancelled = 0

    @abstractmethod
    def now(self) -> float:
        """Return the time, in seconds since the Unix epoch."""

    @abstractmethod
    def wait(self, woken: threading.Event) -> bool:
        """Let time pass until the next timer is due or ``woken`` is set.

        Returns:
            False when waiting is pointless: no timer will ever be due and nothing
            can wake the caller.
        """

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        """Call ``callback`` once, at ``due`` or as soon after as possible."""
        # A `Time` becomes a float too: a virtual clock returns it from `now`.
        due = float(due)
        timer = Timer(self, due, callback, background)
        self._foreground += not background
        # The number orders timers of one time as they were set, which decides
        # simulations; it also keeps the heap from comparing timers, which have no
        # order.
        self._set += 1
        heapq.heappush(self._timers, (due, self._set, timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        """Call ``callback`` once, ``delay`` seconds from now."""
        return self.call_at(self.now() + delay, callback, background=background)

    def next_due(self) -> float | None:
        """Return when the next timer is due, or None."""
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
            self._cancelled -= 1
        return self._timers[0][0] if self._timers else None

    @property
    def has_foreground_timers(self) -> bool:
        """Whether any timer is left that is not a background timer."""
        return self._foreground > 0

    def run_due(self) -> int:
        """Run every timer that is due by now; return how many ran.

        Raises:
            EndlessLoopError: The clock is virtual, and timers set each other without
                any delay, so that time would stand still for ever.
        """
        timers = self._timers
        if not timers:
            return 0
        # Most calls end here: the engine asks several times for each pod.
        first = timers[0]
        if first[2].callback is not None and first[0] > self.now():
            return 0
        ran = chain = 0
        last = self._set
        # The time is read again for each timer: callbacks may set timers that are due
        # at once, and a real clock goes on while they run.
        while (due := self.next_due()) is not None and due <= self.now():
            entry = heapq.heappop(self._timers)
            if entry[1] > last:
                # A callback of this call has set it.
                last = self._set
                chain += 1
                if chain > _LONGEST_CHAIN:
                    heapq.heappush(self._timers, entry)
                    self._interrupt(entry[2])
                    break
            callback = self._take(entry[2])
            if callback is not None:
                callback()
                ran += 1
        return ran

    def _interrupt(self, timer: Timer) -> None:
        """Report a chain of timers without delays, which `run_due` interrupts."""
        _log.warning("%s", _chain_of(timer))

    def _cancel(self, timer: Timer) -> None:
        """Cancel a timer; its entry in the heap is freed later, with many others."""
        if self._take(timer) is None:
            return
        self._cancelled += 1
        if self._cancelled > max(_FEW_CANCELLED, len(self._timers) // 2):
            # Only here, so that an entry is moved on average a constant number of times
            # however many timers are cancelled.
            self._timers = [
                entry for entry in self._timers if entry[2].callback is not None
            ]
            heapq.heapify(self._timers)
            self._cancelled = 0

    def _take(self, timer: Timer) -> Callable[[], None] | None:
        """Take the call out of a timer; return None if it has been taken already."""
        # This also frees what the callback refers to. The entry itself may stay in the
        # heap for long, and mostly its pod is gone by then.
        callback, timer.callback = timer.callback, None
        if callback is not None and not timer.background:
            self._foreground -= 1
        return callback


class RealClock(Clock):
    """The machine's clock. `wait` blocks the calling thread."""

    def now(self) -> float:
        """Return the time, in seconds since the Unix epoch."""
        return time.time()

    def wait(self, woken: threading.Event) -> bool:
        """Block until the next timer is due or ``woken`` is set; always True."""
        due = self.next_due()
        woken.wait(None if due is None else max(0.0, due - self.now()))
        return True


class VirtualClock(Clock):
    """A clock that moves only when `advance` is called or the engine waits.

    Args:
        start: The first ``now()``, in seconds since the Unix epoch; by default
            2026-01-01T00:00:00Z.
    """

    def __init__(self, start: float = VIRTUAL_START) -> None:
        super().__init__()
        self._now = float(start)
        self._listeners: list[Callable[[], None]] = []

    def before_moving(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` each time before time passes.

        Returns:
            A function that removes the callback; a second call does nothing.
        """
        self._listeners.append(callback)
        return lambda: self._forget(callback)

    def now(self) -> float:
        """Return the virtual time, in seconds since the Unix epoch."""
        return self._now

    def wait(self, woken: threading.Event) -> bool:
        """Jump to the next timer unless ``woken`` is set; False if there is none."""
        if woken.is_set():
            return True
        due = self.next_due()
        if due is None:
            return False
        self._move(due)
        return True

    def advance(self, seconds: float) -> None:
        """Let time pass, running each timer at its own due time."""
        target = float(self._now + seconds)
        while (due := self.next_due()) is not None and due <= target:
            # Not to the target at once: a callback reads `now`, and would set its next
            # timer too late.
            self._move(due)
            self.run_due()
        self._move(target)

    def move_ahead_of(self, due: float) -> Callable[[], bool]:
        """Jump to a time, and hold back the timers that are due then.

        Timers that are set later run as always. The time must not be later than that
        of the next timer.

        Args:
            due: The time, not before now.

        Returns:
            A function that gives the next of these timers back to the clock, in their
            order, and returns whether there was one.
        """
        self._move(float(due))
        held: deque[tuple[float, int, Timer]] = deque()
        while (first := self.next_due()) is not None and first <= self._now:
            held.append(heapq.heappop(self._timers))

        def release() -> bool:
            while held:
                entry = held.popleft()
                if entry[2].callback is not None:
                    heapq.heappush(self._timers, entry)
                    return True
                # It was cancelled meanwhile, and counted as an entry of the heap.
                self._cancelled = max(0, self._cancelled - 1)
            return False

        return release

    def _interrupt(self, timer: Timer) -> None:
        """Raise an error, because the time would never pass."""
        raise EndlessLoopError(f"virtual time stands still: {_chain_of(timer)}")

    def _move(self, to: float) -> None:
        if to > self._now:
            for callback in self._listeners:
                callback()
            self._now = to

    def _forget(self, callback: Callable[[], None]) -> None:
        if callback in self._listeners:
            self._listeners.remove(callback)


def _chain_of(timer: Timer) -> str:
    name = callback_name(timer.callback) if timer.callback is not None else "a timer"
    return (
        f"{_LONGEST_CHAIN} timers in a row were set by the timer before and were due "
        f"at once, the last one for {name}: a timer for the present moment or an "
        "earlier one runs at once, so set timers with a delay of more than 0 s, or for "
        "a time after clock.now()"
    )
