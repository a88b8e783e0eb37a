"""Waits for signals, whichever thread of the process receives them."""

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
    """A signal ended the service during interruptible work."""


class Signals:
    """A context manager that handles the signals of a service.

    Blocking and awaiting signals would not work: libraries start threads, and a signal
    that one of these receives would end the process.
    """

    def __init__(self) -> None:
        self._is_interruptible = False

    def __enter__(self) -> "Signals":
        self._receiver, self._sender = socket.socketpair()
        for item in (self._receiver, self._sender):
            item.setblocking(False)
        self._handlers = {item: signal.signal(item, self._handle) for item in _HEEDED}
        number = self._sender.fileno()
        self._wakeup = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        for item, handler in self._handlers.items():
            signal.signal(item, handler)
        self._receiver.close()
        self._sender.close()

    def wait(self, seconds: float | None) -> Iterable[int]:
        """Wait for signals; return those received, or none after the timeout.

        Args:
            seconds: The timeout; None for no timeout.
        """
        ready, _, _ = select.select([self._receiver], [], [], seconds)
        return self._receiver.recv(_MANY) if ready else b""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Raise `Ended` as soon as a signal ends the service."""
        self._is_interruptible = True
        try:
            yield
        finally:
            self._is_interruptible = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Block signals; a process that is forked meanwhile must call `release` first.

        Until then, its signals would wake the process that forked it.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEEDED)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def release(self) -> None:
        """Detach a forked process, which has set its own handlers, and unblock it."""
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEEDED)

    def _handle(self, number: int, _frame: object) -> None:
        if self._is_interruptible and number in ENDING:
            raise Ended
