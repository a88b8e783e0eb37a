"""The process for input and output: owns every connection to the API server.

It ends when the engine's process closes the socket, however that came about.
"""

import os
import signal
import socket
import sys
import threading
import time
from functools import partial
from typing import Final

import attrs
import msgspec

from quaymaster._driver.frames import (
    Alive,
    Asked,
    Begin,
    Counted,
    Follow,
    FrameSocket,
    FromEngine,
    Leave,
    Note,
)
from quaymaster._driver.leading import Leading
from quaymaster._driver.way_in import WayIn
from quaymaster._driver.way_out import WayOut
from quaymaster._errors import QuaymasterError
from quaymaster._kubernetes.resolving import find_access

__all__ = ["main"]

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
    frames = FrameSocket(socket.socket(fileno=descriptor))
    messages = frames.messages(_MESSAGES)
    begin = next(messages, None)
    if not isinstance(begin, Begin):
        return
    # Read again and again: files are written anew while this runs.
    find = partial(find_access, kubeconfig=begin.kubeconfig, context=begin.context)
    access = attrs.evolve(find(), reread=find)
    leading = Leading(access, begin.election, frames.send)
    way_out = WayOut(
        find,
        frames.send,
        may_write=leading.fence.may_write,
        qps=begin.qps,
        burst=begin.burst,
    )
    way_out.start()
    leading.start()
    way_in = WayIn(access, frames.send, way_out.counts.note)
    tell_counts = partial(_tell_counts, way_out, frames)
    threading.Thread(target=tell_counts, name="counts", daemon=True).start()
    for message in messages:
        if isinstance(message, Asked):
            way_out.take(message)
        elif isinstance(message, Note):
            way_out.note(message)
        elif isinstance(message, Follow):
            way_in.follow(message)
        elif isinstance(message, Alive):
            leading.note_life()
        elif isinstance(message, Leave):
            leave = partial(_leave, way_out, leading, frames, message.seconds)
            threading.Thread(target=leave, name="leave", daemon=True).start()


def _tell_counts(way_out: WayOut, frames: FrameSocket) -> None:
    """Tell the engine's process now and then what was asked of the server."""
    told = Counted({}, {})
    while True:
        time.sleep(_SECONDS_TO_TELL_COUNTS)
        counted = way_out.counts.counted()
        if counted != told:
            frames.send(counted)
            told = counted


def _leave(
    way_out: WayOut, leading: Leading, frames: FrameSocket, seconds: float
) -> None:
    """End well: writes first, then the lease, then everything."""
    way_out.leave(seconds)
    leading.stop()
    frames.close()


def _end_at_once(args: threading.ExceptHookArgs) -> None:
    """Let the process end with a thread that broke, so that the engine learns of it."""
    if not issubclass(args.exc_type, ConnectionError):  # the engine is gone
        threading.__excepthook__(args)
    os._exit(1)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except QuaymasterError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    # Other threads may be in the midst of something: nobody waits for it.
    os._exit(0)
