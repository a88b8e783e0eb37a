"""Guards for callbacks that plugins pass to the engine, called outside of hooks."""

import logging
import math
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar
from weakref import WeakSet

from quaymaster._base.callback_names import callback_name
from quaymaster._base.raised import is_from_outside
from quaymaster._core.binding.executor import Executor
from quaymaster._core.contract.clock import Clock, Timer

__all__ = ["PluginClock", "outcome_of", "pass_on", "run_guarded"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class PluginClock(Clock):
    """The engine's clock, for the plugins of one profile.

    If a timer's callback fails, the error is logged and has no other effect.

    Args:
        clock: The engine's clock.

    Attributes:
        is_retired: Whether the plugins have been replaced, or were never started.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self.is_retired = False
        # Weak: the engine's clock holds the timers that are not due yet.
        self._live_timers: WeakSet[Timer] = WeakSet()

    def retire(self) -> None:
        """Cancel all timers; one that is set later is cancelled at once."""
        self.is_retired = True
        for timer in list(self._live_timers):
            timer.cancel()

    def now(self) -> float:
        """See `quaymaster.scheduler.Clock.now`."""
        return self._clock.now()

    def wait(self, woken: threading.Event) -> bool:
        """See `quaymaster.scheduler.Clock.wait`."""
        return self._clock.wait(woken)

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        """See `quaymaster.scheduler.Clock.call_at`.

        Raises:
            ValueError: The time is NaN.
            TypeError: The time is not a number.
        """
        if not isinstance(due, (int, float)):
            raise TypeError(f"call_at: expected a time, got {due!r}")
        if math.isnan(due):
            raise ValueError("call_at: expected a time, got NaN")
        guarded = _logging_errors(callback)
        timer = self._clock.call_at(due, guarded, background=background)
        if self.is_retired:
            timer.cancel()
        else:
            self._live_timers.add(timer)
        return timer

    def next_due(self) -> float | None:
        """See `quaymaster.scheduler.Clock.next_due`."""
        return self._clock.next_due()

    @property
    def has_foreground_timers(self) -> bool:
        """See `quaymaster.scheduler.Clock.has_foreground_timers`."""
        return self._clock.has_foreground_timers

    def run_due(self) -> int:
        """See `quaymaster.scheduler.Clock.run_due`."""
        return self._clock.run_due()


def run_guarded(
    executor: Executor,
    task: Callable[[], T],
    done: Callable[[T], None],
    is_retired: Callable[[], bool],
    *,
    blocks: bool,
) -> None:
    """Submit a plugin's task; if it fails, log the error and do not call `done`.

    Args:
        executor: Runs the task.
        task: See `quaymaster.Handle.run_in_background`.
        done: See `quaymaster.Handle.run_in_background`.
        is_retired: Whether the plugin is retired, so that no task of it may start. A
            task that has started is completed, so that the plugin gets its result.
        blocks: Whether the task may wait for anything but the cluster.
    """
    if is_retired():
        return

    executor.submit(
        partial(outcome_of, task, is_retired), partial(pass_on, done), blocks=blocks
    )


def outcome_of(
    task: Callable[[], T], is_retired: Callable[[], bool]
) -> tuple[T] | None:
    """Run a plugin's task on a worker; return its result, or None without one."""
    if is_retired():
        return None
    try:
        return (task(),)
    except BaseException as error:
        if is_from_outside(error):
            raise
        _log_failure(task)
        return None


def pass_on(done: Callable[[T], None], outcome: tuple[T] | None) -> None:
    """Pass the result of a task, if it has one, on the engine's thread."""
    if outcome is not None:
        _logging_errors(lambda: done(outcome[0]), done)()


def _logging_errors(
    callback: Callable[[], None], named: Callable[..., object] | None = None
) -> Callable[[], None]:
    def call() -> None:
        try:
            callback()
        except BaseException as error:
            if is_from_outside(error):
                raise
            _log_failure(named or callback)

    # As `functools.wraps` does, which would copy more: messages name the callback.
    call.__dict__["__wrapped__"] = named or callback
    return call


def _log_failure(callback: Callable[..., object]) -> None:
    """Log an error with the callback's module, which identifies the plugin."""
    _log.exception("the callback %s of a plugin failed", callback_name(callback))
