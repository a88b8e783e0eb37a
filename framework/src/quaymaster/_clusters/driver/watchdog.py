"""Watches the engine's process from the I/O process.

It reports attempts that take too long while they run, notes their pods for the next
leader, and ends an engine that must stop but does not.
"""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

import attrs

from quaymaster._clusters.driver.attempt_board import Mark
from quaymaster._clusters.driver.engine_stack import Place
from quaymaster._clusters.driver.suspects import Suspects

__all__ = ["Watchdog", "kill_engine", "unread_signals", "watch"]

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_STEPS: Final = 0.5
_SILENT_SECONDS: Final = 5.0
"""A process that runs Python sends a sign of life every two seconds."""

_MOST_SIGNALS: Final = 64
_STOPPING: Final = frozenset({signal.SIGINT, signal.SIGTERM})


class Board(Protocol):
    """What the engine does, see `BoardReader`."""

    def attempt(self) -> Mark | None:
        """Return the attempt in progress, or None."""

    def hook(self) -> Mark | None:
        """Return the latest hook outside of an attempt, if it has not ended."""


class _Age:
    """Measures for how long a mark has stayed."""

    def __init__(self) -> None:
        self._mark: Mark | None = None
        self._since = 0.0

    def of(self, mark: Mark | None, now: float) -> float:
        """Return for how long the mark has stayed; 0 without a mark."""
        if mark is None or self._mark is None or mark.number != self._mark.number:
            self._mark, self._since = mark, now
        return now - self._since if mark is not None else 0.0


@attrs.define(kw_only=True)
class Watchdog:
    """Watches one engine. All but `step` may be called by any thread.

    Attributes:
        board: What the engine does.
        suspects: The pods to note for the next leader.
        place: Returns where the engine's main thread is.
        signals: Returns the signals that the engine's process got and has not handled.
        kill: Ends the engine's process.
        report_seconds: An attempt that takes longer is reported.
        suspect_seconds: The pod of an attempt that takes longer is noted.
        grace_seconds: How long an engine that must stop may take.
        now: Returns the seconds of a monotonic clock.
    """

    board: Board
    suspects: Suspects
    place: Callable[[], Place]
    signals: Callable[[], list[int]]
    kill: Callable[[], None]
    report_seconds: float
    suspect_seconds: float
    grace_seconds: float
    now: Callable[[], float] = time.monotonic
    _attempts: _Age = attrs.field(factory=_Age, init=False)
    _hooks: _Age = attrs.field(factory=_Age, init=False)
    _next_report: float = attrs.field(default=0.0, init=False)
    _suspected: int = attrs.field(default=0, init=False)
    _last_sign: float = attrs.field(init=False)
    _deadline: float | None = attrs.field(default=None, init=False)
    _why: str = attrs.field(default="", init=False)
    _is_leaving: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._last_sign = self.now()

    def note_sign(self) -> None:
        """Note that the engine's process runs Python."""
        self._last_sign = self.now()

    def must_stop(self, why: str) -> None:
        """End the engine unless it leaves within the grace period."""
        if self._deadline is None:
            self._deadline, self._why = self.now() + self.grace_seconds, why

    def leaves(self) -> None:
        """Note that the engine is about to end in order."""
        self._is_leaving = True

    def step(self) -> None:
        """Check the engine once."""
        now = self.now()
        self._look_at_signals()
        if self._deadline is not None and now >= self._deadline:
            self._end(f"it has not stopped {self.grace_seconds:g} s after {self._why}")
            return
        attempt, hook = self.board.attempt(), self.board.hook()
        age = self._attempts.of(attempt, now)
        hook_age = self._hooks.of(hook, now)
        if attempt is not None:
            self._judge(attempt, age, hook)
        else:
            self._judge(hook, hook_age, hook)

    @property
    def _is_silent(self) -> bool:
        return self.now() - self._last_sign > _SILENT_SECONDS

    def _judge(self, mark: Mark | None, age: float, hook: Mark | None) -> None:
        if mark is None or age < min(self.report_seconds, self.suspect_seconds):
            if self._suspected:
                self.suspects.clear()
            self._suspected, self._next_report = 0, self.report_seconds
            return
        is_due = age >= self._next_report
        is_new = age >= self.suspect_seconds and self._suspected != mark.number
        if not is_due and not is_new:
            return
        place = self.place()
        if mark.plugin and not self._is_stuck(mark, place):
            self._next_report = 2 * age
            return
        if not place.plugin and hook is not None and hook.uid == mark.uid:
            # It runs on another thread.
            place = Place(hook.plugin, hook.hook)
        if is_new:
            self._suspected = mark.number
            self.suspects.suspect(mark.uid, mark.pod, str(place))
        if is_due:
            self._next_report = 2 * age
            text = "the attempt to schedule pod %s has taken %.0f s so far: it is %s"
            _log.warning(text, mark.pod, age, place, extra={"pod": mark.pod})

    def _is_stuck(self, hook: Mark, place: Place) -> bool:
        """Return whether a hook outside of an attempt holds up the engine.

        On another thread it may wait, but must not stop the whole process.
        """
        if place.plugin:
            return (place.plugin, place.hook) == (hook.plugin, hook.hook)
        return self._is_silent

    def _look_at_signals(self) -> None:
        count = sum(number in _STOPPING for number in self.signals())
        if count > 1:
            self._end("it has not handled a second signal to stop")
        elif count:
            self.must_stop("a signal")

    def _end(self, why: str) -> None:
        if not self._is_leaving:
            self._is_leaving = True
            _log.error("the scheduler's process is ended: %s", why)
            self.kill()


def watch(watchdog: Watchdog) -> None:
    """Check the engine twice a second, on a separate thread."""

    def run() -> None:
        while True:
            time.sleep(_SECONDS_BETWEEN_STEPS)
            watchdog.step()

    threading.Thread(target=run, name="watchdog", daemon=True).start()


def kill_engine(engine: int) -> None:
    """End the engine's process, the parent of this one."""
    if os.getppid() == engine:
        os.kill(engine, signal.SIGKILL)


def unread_signals(receiver: socket.socket) -> list[int]:
    """Return the signals that Python's handler in C has noted and Python has not read.

    Args:
        receiver: The socket of ``signal.set_wakeup_fd``, which both processes have.
    """
    try:
        return list(receiver.recv(_MOST_SIGNALS, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return []
