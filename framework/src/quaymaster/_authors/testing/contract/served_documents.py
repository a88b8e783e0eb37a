"""A server on this thread, whose answer to each connection a check chooses."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from quaymaster._authors.testing.contract.replacing import replacing

__all__ = ["ServedText"]

_HOST: Final = "127.0.0.1"
_HEAD: Final = (
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    "Content-Length: {}\r\nConnection: close\r\n\r\n"
)


class ServedText:
    """The text with which a server answers all requests.

    It needs no thread: the whole answer is sent when a client has connected, and waits
    in the buffer of the connection until the client has sent its request.

    Attributes:
        text: The text.
        connections: How many connections there were.
    """

    def __init__(self) -> None:
        self.text = ""
        self.connections = 0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Answer all connections of this process in the block."""
        connect = socket.socket.connect
        with ExitStack() as stack:
            listener = stack.enter_context(socket.create_server((_HOST, 0)))
            address = listener.getsockname()

            def connect_here(own: socket.socket, _address: object) -> None:
                connect(own, address)
                self.connections += 1
                peer, _ = listener.accept()
                stack.enter_context(peer)
                body = self.text.encode()
                peer.sendall(_HEAD.format(len(body)).encode() + body)

            def resolve_here(*_args: object, **_options: object) -> list[Any]:
                return [
                    (
                        socket.AF_INET,
                        socket.SOCK_STREAM,
                        socket.IPPROTO_TCP,
                        "",
                        address,
                    )
                ]

            stack.enter_context(replacing(socket.socket, "connect", connect_here))
            stack.enter_context(replacing(socket, "getaddrinfo", resolve_here))
            yield
