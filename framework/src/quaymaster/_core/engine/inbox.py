"""Calls that other threads leave for the engine's thread."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from quaymaster._core.contract.clock import Clock

__all__ = ["Inbox"]


T = TypeVar("T")


class Inbox:
    """A queue of calls; any thread may `post`, and only the engine drains.

    The engine's thread is the one that makes it, until `adopt` says otherwise.

    Attributes:
        has_news: Whether there may be something to do; cleared by `drain`.
    """

    def __init__(self) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self.has_news = False
        self._is_waiting = False
        self._woken = threading.Event()
        self._thread = threading.get_ident()

    def adopt(self) -> None:
        """Make the calling thread the engine's."""
        self._thread = threading.get_ident()

    def run_here(self, call: Callable[[], None]) -> None:
        """Make a call at once if this is the engine's thread, else leave it there."""
        if threading.get_ident() == self._thread:
            call()
        else:
            self.post(call)

    def post(self, call: Callable[[], None]) -> None:
        """Leave a call for the engine's thread."""
        self._calls.append(call)
        self.notify()

    def ask(self, call: Callable[[], T]) -> Future[T]:
        """Leave a call for the engine's thread, and learn what comes of it."""
        answer: Future[T] = Future()

        def run() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                result = call()
            except Exception as error:
                answer.set_exception(error)
            else:
                answer.set_result(result)

        self.post(run)
        return answer

    def notify(self) -> None:
        """Wake the engine, since something other than a call has arrived."""
        # The flag comes first: `wait` looks at it once it has said that it waits. An
        # event takes a lock, and there is one of these for each change.
        self.has_news = True
        if self._is_waiting:
            self._woken.set()

    def wait(self, clock: Clock) -> bool:
        """Let time pass until there are news or a timer is due.

        Returns:
            False when waiting is pointless, see `Clock.wait`.
        """
        self._woken.clear()
        self._is_waiting = True
        if self.has_news:
            self._woken.set()
        try:
            return clock.wait(self._woken)
        finally:
            self._is_waiting = False

    def drain(self) -> bool:
        """Run what has been posted so far; return whether there was anything."""
        self.has_news = False
        ran = False
        while self._calls:
            self._calls.popleft()()
            ran = True
        return ran
