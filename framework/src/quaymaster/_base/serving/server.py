"""A server that reads each connection on a thread of its own, and can close them."""

import logging
from http.server import HTTPServer
from socket import socket
from socketserver import TCPServer, ThreadingMixIn
from typing import Final, Protocol

from quaymaster._base.serving.connections import Connections
from quaymaster._base.serving.handler import TimedHandler
from quaymaster._base.serving.tls import WrapsConnections

__all__ = ["TimedServer"]

_BACKLOG: Final = 1024  # as many as `Connections` keeps open

_log = logging.getLogger(__name__)


class _Limits(Protocol):
    """What a server is told of its connections."""

    @property
    def tls(self) -> WrapsConnections | None: ...

    @property
    def idle_seconds(self) -> float: ...

    @property
    def read_seconds(self) -> float: ...


class TimedServer(ThreadingMixIn, HTTPServer):
    """Accepts connections, with TLS or without.

    Args:
        address: Host and port; port 0 takes a free one.
        handler: Handles one connection.
        limits: The certificates, if any, and how long a connection may be silent
            between requests, and a request may take to arrive, in seconds.

    Attributes:
        tls: Wraps connections; None leaves them as they are.
        idle_seconds: See above.
        read_seconds: See above.
        connections: Those that are open.

    Raises:
        OSError: The address cannot be listened on.
    """

    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(
        self, address: tuple[str, int], handler: type[TimedHandler], limits: _Limits
    ) -> None:
        self.tls = limits.tls
        self.idle_seconds = limits.idle_seconds
        self.read_seconds = limits.read_seconds
        self.connections = Connections()
        super().__init__(address, handler)

    @property
    def url(self) -> str:
        """The URL that it listens on."""
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{self.server_address[0]!s}:{self.server_port}"

    def server_close(self) -> None:
        """Stop to listen, and end all connections."""
        super().server_close()
        self.connections.hang_up()

    def server_bind(self) -> None:
        """Bind, without a call of a name server for the name of the host."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = (
            str(self.server_address[0]),
            int(self.server_address[1]),
        )

    def get_request(self) -> tuple[socket, object]:
        """Accept a connection; its handshake, if any, comes on its own thread."""
        connection, address = super().get_request()
        if self.tls is not None:
            connection = self.tls.wrap(connection)
        self.connections.add(connection)
        return connection, address

    def shutdown_request(self, request: object) -> None:
        """Forget a connection that is over."""
        assert isinstance(request, socket)
        self.connections.remove(request)
        super().shutdown_request(request)

    def handle_error(
        self,
        request: object,  # noqa: ARG002 - the base class's
        client_address: object,
    ) -> None:
        """Log that a connection broke; the others go on."""
        _log.info("lost the connection to %s", client_address, exc_info=True)
