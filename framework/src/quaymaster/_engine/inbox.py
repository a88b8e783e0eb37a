"""Calls that other threads leave for the engine's thread."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["Inbox"]


T = TypeVar("T")


class Inbox:
    """A queue of calls; anybody may `post`, only the engine drains.

    Attributes:
        woken: Set while there may be something to do; the clock waits on it.
    """

    def __init__(self) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self.woken = threading.Event()

    def post(self, call: Callable[[], None]) -> None:
        """Leave a call for the engine's thread."""
        self._calls.append(call)
        self.woken.set()

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
        """Wake the engine: something else than a call has arrived."""
        if not self.woken.is_set():  # to set it takes a lock
            self.woken.set()

    def drain(self) -> bool:
        """Run what has been posted so far; return whether there was anything."""
        self.woken.clear()
        ran = False
        while self._calls:
            self._calls.popleft()()
            ran = True
        return ran
