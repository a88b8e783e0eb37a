"""The process for input and output: owns every connection to the API server.

It ends when the engine's process closes the socket, however that came about.
"""

import signal
import socket
import sys

import msgspec

from quaymaster._driver.frames import (
    Asked,
    Begin,
    Follow,
    FrameSocket,
    FromEngine,
)
from quaymaster._driver.reflector import Reflector
from quaymaster._driver.way_out import WayOut
from quaymaster._kubernetes.resolving import find_access

__all__ = ["main"]

_MESSAGES = msgspec.msgpack.Decoder(FromEngine)


def main(descriptor: int) -> None:
    """Serve an engine until it is gone.

    Args:
        descriptor: The file descriptor of the socket to it.
    """
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)  # they are the engine's to handle
    frames = FrameSocket(socket.socket(fileno=descriptor))
    messages = map(_MESSAGES.decode, frames.frames())
    begin = next(messages, None)
    if not isinstance(begin, Begin):
        return
    access = find_access(kubeconfig=begin.kubeconfig, context=begin.context)
    way_out = WayOut(
        lambda: access,
        frames.send,
        may_write=lambda: True,
        qps=begin.qps,
        burst=begin.burst,
    )
    way_out.start()
    for message in messages:
        if isinstance(message, Asked):
            way_out.take(message)
        elif isinstance(message, Follow):
            Reflector(access, message.resource, message.path, frames.send).start()


if __name__ == "__main__":
    main(int(sys.argv[1]))
