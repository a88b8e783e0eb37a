"""The worker processes of the service."""

import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.serving.tls import ServerTLS
from quaymaster._surfaces.service.signals import ENDING, Signals
from quaymaster._surfaces.service.worker import LEAVE, Worker

__all__ = ["WorkerError", "Workers"]

# Beyond the grace period, for a clean exit.
_SLACK_SECONDS: Final = 5

_log = logging.getLogger(__name__)


class WorkerError(QuaymasterError):
    """A worker has ended unexpectedly."""


class Workers:
    """One process for each listening socket, forked so that all share memory.

    The parent keeps the sockets open, so while new workers take over, connecting
    clients only wait for a moment.

    Args:
        sockets: The listening sockets.
        tls: The certificates; None for plain HTTP.
        grace_seconds: How long requests in flight may take at the end.
        signals: The signals of this process.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        tls: ServerTLS | None,
        grace_seconds: int,
        signals: Signals,
    ) -> None:
        self._signals = signals
        self._sockets = sockets
        self._tls = tls
        self._grace_seconds = grace_seconds
        self._current: set[int] = set()
        self._leaving: set[int] = set()

    def take_over(self, app: ASGIApp) -> None:
        """Start workers with an application, and make the old ones leave."""
        before = self._current
        with self._signals.held_back(), _frozen_memory():
            self._current = {self._fork(app, opened) for opened in self._sockets}
        self._leaving |= before
        _send(before, LEAVE)

    def look_after(self) -> None:
        """Check for workers that have ended.

        Raises:
            WorkerError: A worker has ended unexpectedly.
        """
        self._leaving = {
            process for process in self._leaving if _exit_code(process) is None
        }
        for process in tuple(self._current):
            code = _exit_code(process)
            if code is not None:
                self._current.discard(process)
                raise WorkerError(f"a worker has ended unexpectedly, with code {code}")

    def end(self) -> None:
        """End all workers, and wait until they have answered their requests.

        They are killed after the grace period, or at another signal to end.
        """
        every = self._current | self._leaving
        self._current, self._leaving = set(), set()
        _send(every, signal.SIGTERM)
        end = time.monotonic() + self._grace_seconds + _SLACK_SECONDS
        while every := {process for process in every if _exit_code(process) is None}:
            left = max(end - time.monotonic(), 0.0)
            came = self._signals.wait(left)
            if not left or not ENDING.isdisjoint(came):
                _send(every, signal.SIGKILL)

    def _fork(self, app: ASGIApp, opened: socket.socket) -> int:
        """Start a worker, and return its process id."""
        # Otherwise buffered text would be written by both processes.
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child:
            return child
        code = 1
        try:
            worker = Worker(app, self._tls, self._grace_seconds)
            for number in ENDING:
                signal.signal(number, worker.handle_exit)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(LEAVE, worker.leave)
            self._signals.release()
            worker.run(sockets=[opened])
            code = 0
        except Exception:
            _log.exception("a worker failed")
        finally:
            # Not `sys.exit`: exit handlers and buffers belong to the parent.
            os._exit(code)


@contextmanager
def _frozen_memory() -> Iterator[None]:
    """Keep the collector from writing to pages that forked processes share."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _send(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def _exit_code(process: int) -> int | None:
    """Return the exit code of a child; None if it still runs."""
    ended, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None
