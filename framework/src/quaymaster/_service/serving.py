"""Runs the service: a socket, and one process for each worker."""

import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Final

import uvicorn
from starlette.applications import Starlette

from quaymaster._errors import QuaymasterError

__all__ = ["AddressError", "WorkerError", "listen", "serve"]

_BACKLOG: Final = 2048
_GRACE_SECONDS: Final = 5
_ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM})
_SIGNALS: Final = _ENDING | {signal.SIGCHLD, signal.SIGHUP, signal.SIGALRM}


class AddressError(QuaymasterError):
    """An address that cannot be listened on."""


class WorkerError(QuaymasterError):
    """A worker has ended without being told to."""


def listen(address: str, port: int) -> socket.socket:
    """Open a listening socket.

    Args:
        address: The address, such as ``127.0.0.1``.
        port: The port; 0 for any that is free.

    Raises:
        AddressError: That is not possible.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((address, port))
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        reason = error.strerror or error
        raise AddressError(f"cannot listen on {address}:{port}: {reason}") from error
    return opened


def serve(
    make_app: Callable[[], Starlette],
    opened: socket.socket,
    *,
    workers: int = 1,
    refresh_seconds: float = 0.0,
    on_trouble: Callable[[str], None] = print,
) -> None:
    """Answer requests until SIGINT or SIGTERM comes; answers under way are finished.

    On SIGHUP, and every ``refresh_seconds``, the application is made anew, and other
    workers take over. If that fails, everything stays as it was.

    Args:
        make_app: Makes the application. Workers are forked, so they share the memory of
            what it knows.
        opened: The listening socket.
        workers: How many processes answer.
        refresh_seconds: How often to make the application anew; 0 for never.
        on_trouble: Told what went wrong with a refresh.

    Raises:
        WorkerError: A worker has ended by itself; then all are ended.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    children = _started(make_app(), opened, workers)
    signal.setitimer(signal.ITIMER_REAL, refresh_seconds, refresh_seconds)
    try:
        while (number := signal.sigwait(_SIGNALS)) not in _ENDING:
            if number == signal.SIGCHLD:
                _check(children)
                continue
            try:
                app = make_app()
            except QuaymasterError as error:
                on_trouble(f"not refreshed: {error}")
            else:
                _end(children)
                children = _started(app, opened, workers)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _end(children)
        while signal.sigpending() & _SIGNALS:
            signal.sigwait(_SIGNALS)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _started(app: Starlette, opened: socket.socket, workers: int) -> list[int]:
    gc.collect()
    gc.freeze()  # so that the collector writes to no page that workers share
    try:
        return [_fork(app, opened) for _ in range(workers)]
    finally:
        gc.unfreeze()


def _fork(app: Starlette, opened: socket.socket) -> int:
    """Start a worker, and return its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        # The server puts its own handlers in their place, and raises again what came.
        for number in _ENDING:
            signal.signal(number, lambda *_: None)
        for number in _SIGNALS - _ENDING:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        _server(app).run(sockets=[opened])
        code = 0
    finally:
        os._exit(code)


def _server(app: Starlette) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        lifespan="off",
        proxy_headers=False,  # nobody asks who the client is
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)


def _check(children: Sequence[int]) -> None:
    """Find out whether a worker has ended by itself.

    Raises:
        WorkerError: One has.
    """
    for child in children:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            raise WorkerError(f"a worker has ended by itself, with code {code}")


def _end(children: Sequence[int]) -> None:
    """End workers, and wait until they have answered what they were asked."""
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
    for child in children:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
