"""Runs the service: waits for signals, and for the time to read the input again."""

import signal
import socket
from collections.abc import Callable, Sequence

import attrs
from starlette.types import ASGIApp

from quaymaster._base.serving.tls import ServerTLS
from quaymaster._core.contract.clock import Clock, RealClock
from quaymaster._surfaces.service.readiness import SharedReadiness
from quaymaster._surfaces.service.refreshing import Refresher
from quaymaster._surfaces.service.signals import ENDING, Ended, Signals
from quaymaster._surfaces.service.workers import Workers

__all__ = ["ServeOptions", "serve"]


@attrs.frozen(kw_only=True)
class ServeOptions:
    """Options of the service.

    Attributes:
        tls: The certificates; None for plain HTTP.
        refresh_seconds: The interval of refreshes; 0: never.
        grace_seconds: How long requests in flight may take at the end.
        on_trouble: Receives the error of a failed refresh.
    """

    tls: ServerTLS | None = None
    refresh_seconds: float = 0.0
    grace_seconds: int = 30
    on_trouble: Callable[[str], None] = print


def serve(
    make_app: Callable[[], ASGIApp],
    sockets: Sequence[socket.socket],
    readiness: SharedReadiness,
    options: ServeOptions,
) -> None:
    """Serve requests until SIGINT or SIGTERM; requests in flight are finished.

    On SIGHUP and at intervals, the application is rebuilt and new workers take over. If
    that fails, the old ones continue.

    Args:
        make_app: Builds the application.
        sockets: The listening sockets, one for each worker.
        readiness: Receives the result of each refresh.
        options: The options.

    Raises:
        WorkerError: A worker has ended unexpectedly; all others are ended then.
    """
    clock = RealClock()
    with Signals() as signals:
        workers = Workers(sockets, options.tls, options.grace_seconds, signals)

        def make() -> ASGIApp:
            with signals.interruptible():
                return make_app()

        refresher = Refresher(
            make,
            workers.take_over,
            clock=clock,
            readiness=readiness,
            seconds=options.refresh_seconds,
            on_trouble=options.on_trouble,
        )
        try:
            refresher.start()
            while _goes_on(signals, refresher, workers, clock):
                pass
        except Ended:
            pass
        finally:
            workers.end()


def _goes_on(
    signals: Signals,
    refresher: Refresher[ASGIApp],
    workers: Workers,
    clock: Clock,
) -> bool:
    """Wait for a signal or a timer, and handle it; return whether to continue."""
    due = clock.next_due()
    left = None if due is None else max(due - clock.now(), 0.0)
    came = frozenset(signals.wait(left))
    if came & ENDING:
        return False
    if signal.SIGCHLD in came:
        workers.look_after()
    if signal.SIGHUP in came:
        refresher.refresh()
    clock.run_due()
    return True
