"""The I/O process, which owns every connection to the API server.

It ends when the socket to the engine's process is closed, for any reason.
"""

import contextlib
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable
from functools import partial
from typing import Final

import attrs
import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.logs import FORMATTERS
from quaymaster._clusters.driver.attempt_board import BoardReader
from quaymaster._clusters.driver.counts import RequestCounts
from quaymaster._clusters.driver.engine_stack import StackReader
from quaymaster._clusters.driver.frame_socket import FrameSocket
from quaymaster._clusters.driver.frames import (
    Alive,
    Begin,
    Counted,
    Election,
    Finished,
    Follow,
    FromEngine,
    Leave,
    Note,
    Request,
    Runs,
    Stopping,
    Watched,
)
from quaymaster._clusters.driver.inbound import Inbound
from quaymaster._clusters.driver.leading import Leading
from quaymaster._clusters.driver.outbound import Outbound
from quaymaster._clusters.driver.suspects import Suspects
from quaymaster._clusters.driver.watchdog import (
    Watchdog,
    kill_engine,
    unread_signals,
    watch,
)
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._clusters.kubernetes.resolving import find_access

__all__ = ["main"]

_log = logging.getLogger(
    "quaymaster._clusters.driver.io_process"
)  # run as the main module

_SECONDS_BETWEEN_COUNTS: Final = 5.0  # a third of a short Prometheus scrape interval

_MESSAGES: Final[msgspec.msgpack.Decoder[FromEngine]] = msgspec.msgpack.Decoder(
    FromEngine
)


def main(descriptor: int) -> None:
    """Serve an engine until its process closes the socket.

    Args:
        descriptor: The file descriptor of the socket to the engine.

    Raises:
        FrameError: The engine sent an invalid message.
        QuaymasterError: The configuration does not name an API server.
    """
    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)  # the engine handles them
    threading.excepthook = _end_at_once
    frames = FrameSocket(socket.socket(fileno=descriptor), _MESSAGES)
    begin, *further = _first(frames) or [Alive()]
    if not isinstance(begin, Begin):
        return
    _log_as(begin.log_format)
    # The files are read repeatedly, because they may be replaced.
    find = partial(find_access, kubeconfig=begin.kubeconfig, context=begin.context)
    access = attrs.evolve(find(), reread=find)
    counts, issuer = RequestCounts(), Issuer()
    suspects = Suspects()
    watchdog = _watchdog(begin.watched, begin.election, suspects)
    leading = Leading(
        access,
        begin.election,
        frames.send,
        counts.note,
        issuer,
        suspects=suspects,
        on_lost=partial(_lost, watchdog),
    )
    outbound = Outbound(
        find,
        frames.put,
        frames.flush,
        counts=counts,
        may_write=leading.fence.may_write,
        qps=begin.qps,
        burst=begin.burst,
        issuer=issuer,
    )
    leading.start()
    if watchdog is not None:
        watch(watchdog)
    inbound = Inbound(access, frames.send, counts.note, issuer)
    report_counts = partial(_report_counts, outbound, frames)
    threading.Thread(target=report_counts, name="counts", daemon=True).start()
    dispatcher = _Dispatcher(frames, outbound, inbound, leading, suspects, watchdog)
    with contextlib.suppress(_EngineGoneError, ConnectionError):
        dispatcher.take(further)
        outbound.listen(frames, dispatcher.receive)
        outbound.run()
        # All writes are answered: release the lease, then close.
        leading.stop()
        frames.close()


class _EngineGoneError(Exception):
    """The engine's process has closed the socket."""


@attrs.frozen
class _Dispatcher:
    """Passes the engine's messages on, on the thread that sends requests.

    Attributes:
        frames: The socket to the engine.
        outbound: Sends requests.
        inbound: Follows resources.
        leading: Renews the lease.
        suspects: The unfinished attempts of the lease.
        watchdog: Watches the engine's process, if it is watched.
    """

    frames: FrameSocket[FromEngine]
    outbound: Outbound
    inbound: Inbound
    leading: Leading
    suspects: Suspects
    watchdog: Watchdog | None = None

    def receive(self, _mask: int) -> None:
        """Receive the messages that have arrived, and pass them on."""
        messages = self.frames.received()
        if messages is None:
            raise _EngineGoneError
        self.take(messages)

    def take(self, messages: Iterable[FromEngine]) -> None:
        """Pass each message to its component."""
        for message in messages:
            if isinstance(message, Request):
                self.outbound.take(message)
            elif isinstance(message, Note):
                self.outbound.note(message)
            elif isinstance(message, Follow):
                self.inbound.follow(message)
            elif isinstance(message, Finished):
                self.suspects.finished(message.uid)
            else:
                self._note_engine(message)

    def _note_engine(self, message: FromEngine) -> None:
        """Take a message about the state of the engine."""
        if self.watchdog is not None:
            self.watchdog.note_sign()
        if isinstance(message, Alive):
            self.leading.note_turn()
        elif isinstance(message, Runs):
            self.leading.note_sign()
        elif isinstance(message, Stopping):
            if self.watchdog is not None:
                self.watchdog.must_stop("a signal")
        elif isinstance(message, Leave):
            if self.watchdog is not None:
                self.watchdog.leaves()
            self.outbound.leave(message.seconds)


def _watchdog(
    watched: Watched | None, election: Election | None, suspects: Suspects
) -> Watchdog | None:
    """Create the watchdog of the engine's process, if it is watched."""
    if watched is None:
        return None
    receiver = socket.socket(fileno=watched.signals)
    renew = math.inf if election is None else election.renew_seconds
    return Watchdog(
        board=BoardReader(watched.board),
        suspects=suspects,
        place=StackReader(watched.engine, watched.stacks).place,
        signals=partial(unread_signals, receiver),
        kill=partial(kill_engine, watched.engine),
        report_seconds=watched.report_seconds,
        # Early enough to be noted before the lease is lost.
        suspect_seconds=min(watched.report_seconds, renew / 2),
        grace_seconds=watched.grace_seconds,
    )


def _lost(watchdog: Watchdog | None, _why: str) -> None:
    """Let an engine end that has lost the lease."""
    if watchdog is not None:
        watchdog.must_stop("the loss of the lease")


def _first(frames: FrameSocket[FromEngine]) -> list[FromEngine] | None:
    """Return the first messages of the engine; None if it has closed the socket."""
    while (messages := frames.received()) == []:
        pass
    return messages


def _report_counts(outbound: Outbound, frames: FrameSocket[FromEngine]) -> None:
    """Send the request counts to the engine's process every few seconds."""
    reported = Counted({}, {})
    while True:
        time.sleep(_SECONDS_BETWEEN_COUNTS)
        counted = outbound.counted()
        if counted != reported:
            frames.send(counted)
            reported = counted


def _log_as(form: str) -> None:
    """Log warnings and errors in the format of the engine's process."""
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[form]())
    logging.getLogger("quaymaster").addHandler(handler)


def _end_at_once(args: threading.ExceptHookArgs) -> None:
    """End the process if a thread fails, so that the engine's process notices it."""
    if args.exc_value is not None and not isinstance(args.exc_value, ConnectionError):
        _log.error("a thread failed", exc_info=args.exc_value)
    os._exit(1)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except QuaymasterError as error:
        _log.error("%s", error)
        os._exit(1)
    except Exception as error:
        _log.error("the I/O process failed", exc_info=error)
        os._exit(1)
    # Other threads may still be busy; the process does not wait for them.
    os._exit(0)
