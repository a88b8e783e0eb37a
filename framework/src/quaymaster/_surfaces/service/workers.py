"""The processes that answer."""

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

# Chosen, not measured: beyond the time for answers, to end in peace.
_SLACK_SECONDS: Final = 5

_log = logging.getLogger(__name__)


class WorkerError(QuaymasterError):
    """A worker has ended without being told to."""


class Workers:
    """One process for each listening socket, forked, so that all share memory.

    The sockets belong to the process that forks: when others take over, clients that
    are about to connect wait a moment.

    Args:
        sockets: The listening sockets.
        tls: The certificates; None speaks plain HTTP.
        grace_seconds: How long answers that are under way may take at the end.
        signals: Those of this process.
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
        """Start workers that answer with an application, and let go of the others."""
        before = self._current
        with self._signals.held_back(), _frozen_memory():
            self._current = {self._fork(app, one) for one in self._sockets}
        self._leaving |= before
        _send(before, LEAVE)

    def look_after(self) -> None:
        """Take note of workers that have ended.

        Raises:
            WorkerError: One has that was not told to.
        """
        self._leaving = {one for one in self._leaving if _exit_code(one) is None}
        for one in tuple(self._current):
            code = _exit_code(one)
            if code is not None:
                self._current.discard(one)
                raise WorkerError(f"a worker has ended by itself, with code {code}")

    def end(self) -> None:
        """End all, and wait until they have answered what they were asked.

        They are killed when their time is over, or if there is another signal to end.
        """
        every = self._current | self._leaving
        self._current, self._leaving = set(), set()
        _send(every, signal.SIGTERM)
        end = time.monotonic() + self._grace_seconds + _SLACK_SECONDS
        while every := {one for one in every if _exit_code(one) is None}:
            left = max(end - time.monotonic(), 0.0)
            came = self._signals.wait(left)
            if not left or not ENDING.isdisjoint(came):
                _send(every, signal.SIGKILL)

    def _fork(self, app: ASGIApp, opened: socket.socket) -> int:
        """Start a worker, and return its process id."""
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
            _log.exception("a worker broke")
        finally:
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
    for one in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, number)


def _exit_code(process: int) -> int | None:
    """Return the exit code of a child; None if it is still there."""
    ended, status = os.waitpid(process, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None
