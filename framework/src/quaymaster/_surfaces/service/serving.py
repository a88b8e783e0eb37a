"""Runs the service: waits for signals, and for the time to read the input again."""

import signal
import socket
from collections.abc import Callable, Sequence

import attrs
from starlette.applications import Starlette

from quaymaster._base.serving.tls import ServerTLS
from quaymaster._core.contract.clock import Clock, RealClock
from quaymaster._surfaces.service.readiness import SharedReadiness
from quaymaster._surfaces.service.refreshing import Refresher
from quaymaster._surfaces.service.signals import ENDING, Ended, Signals
from quaymaster._surfaces.service.workers import Workers

__all__ = ["ServeOptions", "serve"]


@attrs.frozen(kw_only=True)
class ServeOptions:
    """How to run the service.

    Attributes:
        tls: The certificates; None speaks plain HTTP.
        refresh_seconds: How long after the last refresh the next one comes; 0: never.
        grace_seconds: How long answers that are under way may take at the end.
        on_trouble: Told what went wrong with a refresh.
    """

    tls: ServerTLS | None = None
    refresh_seconds: float = 0.0
    grace_seconds: int = 30
    on_trouble: Callable[[str], None] = print


def serve(
    make_app: Callable[[], Starlette],
    sockets: Sequence[socket.socket],
    readiness: SharedReadiness,
    options: ServeOptions,
) -> None:
    """Answer requests until SIGINT or SIGTERM comes; answers under way are finished.

    On SIGHUP, and every so often, the application is made anew, and other workers take
    over. If that fails, everything stays as it was.

    Args:
        make_app: Makes the application.
        sockets: The listening sockets, one for each worker.
        readiness: Where it is noted how the last refresh went.
        options: The options.

    Raises:
        WorkerError: A worker has ended by itself; then all are ended.
    """
    clock = RealClock()
    with Signals() as signals:
        workers = Workers(sockets, options.tls, options.grace_seconds, signals)

        def make() -> Starlette:
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
    refresher: Refresher[Starlette],
    workers: Workers,
    clock: Clock,
) -> bool:
    """Wait for something to happen, and see to it; say whether it is to go on."""
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
