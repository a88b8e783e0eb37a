"""The process for input and output: owns every connection to the API server.

It ends when the engine's process closes the socket, however that came about.
"""

import contextlib
import logging
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
from quaymaster._clusters.driver.counts import RequestCounts
from quaymaster._clusters.driver.frame_socket import FrameSocket
from quaymaster._clusters.driver.frames import (
    Alive,
    Asked,
    Begin,
    Counted,
    Follow,
    FromEngine,
    Leave,
    Note,
    Runs,
)
from quaymaster._clusters.driver.leading import Leading
from quaymaster._clusters.driver.way_in import WayIn
from quaymaster._clusters.driver.way_out import WayOut
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._clusters.kubernetes.resolving import find_access

__all__ = ["main"]

_log = logging.getLogger(
    "quaymaster._clusters.driver.io_process"
)  # run as the main module

_SECONDS_TO_TELL_COUNTS: Final = 5.0  # a third of what Prometheus waits at least

_MESSAGES: Final[msgspec.msgpack.Decoder[FromEngine]] = msgspec.msgpack.Decoder(
    FromEngine
)


def main(descriptor: int) -> None:
    """Serve an engine until it is gone.

    Args:
        descriptor: The file descriptor of the socket to it.

    Raises:
        FrameError: The engine says what is not known here.
        QuaymasterError: There is no telling where the API server is.
    """
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)  # they are the engine's to handle
    threading.excepthook = _end_at_once
    frames = FrameSocket(socket.socket(fileno=descriptor), _MESSAGES)
    begin, *further = _first(frames) or [Alive()]
    if not isinstance(begin, Begin):
        return
    _log_as(begin.log_format)
    # Read again and again: files are written anew while this runs.
    find = partial(find_access, kubeconfig=begin.kubeconfig, context=begin.context)
    access = attrs.evolve(find(), reread=find)
    counts, issuer = RequestCounts(), Issuer()
    leading = Leading(access, begin.election, frames.send, counts.note, issuer)
    way_out = WayOut(
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
    way_in = WayIn(access, frames.send, counts.note, issuer)
    tell_counts = partial(_tell_counts, way_out, frames)
    threading.Thread(target=tell_counts, name="counts", daemon=True).start()
    ear = _Ear(frames, way_out, way_in, leading)
    with contextlib.suppress(_EngineGoneError, ConnectionError):
        ear.take(further)
        way_out.listen(frames, ear.hear)
        way_out.run()
        # Writes first, then the lease, then everything.
        leading.stop()
        frames.close()


class _EngineGoneError(Exception):
    """Nobody is there any more to work for."""


@attrs.frozen
class _Ear:
    """Takes what the engine says, on the thread that sends requests.

    Attributes:
        frames: Brings it.
        way_out: Sends requests.
        way_in: Follows resources.
        leading: Keeps the lease.
    """

    frames: FrameSocket[FromEngine]
    way_out: WayOut
    way_in: WayIn
    leading: Leading

    def hear(self, _mask: int) -> None:
        """Take what has come."""
        messages = self.frames.received()
        if messages is None:
            raise _EngineGoneError
        self.take(messages)

    def take(self, messages: Iterable[FromEngine]) -> None:
        """Do what the engine wants."""
        for message in messages:
            if isinstance(message, Asked):
                self.way_out.take(message)
            elif isinstance(message, Note):
                self.way_out.note(message)
            elif isinstance(message, Follow):
                self.way_in.follow(message)
            elif isinstance(message, Alive):
                self.leading.note_turn()
            elif isinstance(message, Runs):
                self.leading.note_life()
            elif isinstance(message, Leave):
                self.way_out.leave(message.seconds)


def _first(frames: FrameSocket[FromEngine]) -> list[FromEngine] | None:
    """The first messages of the engine; None if it is gone."""
    while (messages := frames.received()) == []:
        pass
    return messages


def _tell_counts(way_out: WayOut, frames: FrameSocket[FromEngine]) -> None:
    """Tell the engine's process now and then what was asked of the server."""
    told = Counted({}, {})
    while True:
        time.sleep(_SECONDS_TO_TELL_COUNTS)
        counted = way_out.counted()
        if counted != told:
            frames.send(counted)
            told = counted


def _log_as(form: str) -> None:
    """Write warnings and errors as the engine's process does."""
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[form]())
    logging.getLogger("quaymaster").addHandler(handler)


def _end_at_once(args: threading.ExceptHookArgs) -> None:
    """Let the process end with a thread that broke, so that the engine learns of it."""
    if args.exc_value is not None and not isinstance(args.exc_value, ConnectionError):
        _log.error("a thread broke", exc_info=args.exc_value)
    os._exit(1)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except QuaymasterError as error:
        _log.error("%s", error)
        os._exit(1)
    except Exception as error:
        _log.error("the process for input and output broke", exc_info=error)
        os._exit(1)
    # Other threads may be in the midst of something: nobody waits for it.
    os._exit(0)
