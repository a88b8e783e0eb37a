"""Waits for signals, whichever thread of the process gets them."""

import select
import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["ENDING", "Ended", "Signals"]

ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM})
"""The signals that end the service."""

_HEEDED: Final = ENDING | {signal.SIGCHLD, signal.SIGHUP}
_MANY: Final = 1024


class Ended(BaseException):
    """The service was told to end while it did something that can be broken off."""


class Signals:
    """Takes the signals of a service for as long as it is entered.

    Blocking them and waiting would not do: libraries have threads of their own, and a
    signal that one of those gets would end the process.
    """

    def __init__(self) -> None:
        self._is_interruptible = False

    def __enter__(self) -> "Signals":
        self._receiver, self._sender = socket.socketpair()
        for one in (self._receiver, self._sender):
            one.setblocking(False)
        self._handlers = {one: signal.signal(one, self._handle) for one in _HEEDED}
        number = self._sender.fileno()
        self._wakeup = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for one, handler in self._handlers.items():
            signal.signal(one, handler)
        self._receiver.close()
        self._sender.close()

    def wait(self, seconds: float | None) -> Iterable[int]:
        """Wait for signals; return those that have come, none when the time is over.

        Args:
            seconds: For how long; None for as long as it takes.
        """
        ready, _, _ = select.select([self._receiver], [], [], seconds)
        return self._receiver.recv(_MANY) if ready else b""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise `Ended` as soon as a signal comes that ends the service."""
        self._is_interruptible = True
        try:
            yield
        finally:
            self._is_interruptible = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let signals wait; a process that is forked meanwhile begins with `release`.

        Until then they would be told to the process that has forked it.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEEDED)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def release(self) -> None:
        """Take no more signals, in a forked process, which has set its own handlers."""
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEEDED)

    def _handle(self, number: int, _frame: object) -> None:
        if self._is_interruptible and number in ENDING:
            raise Ended
