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
    """The settings of a server's connections."""

    @property
    def tls(self) -> WrapsConnections | None: ...

    @property
    def idle_seconds(self) -> float: ...

    @property
    def read_seconds(self) -> float: ...

    @property
    def connections(self) -> int: ...


class TimedServer(ThreadingMixIn, HTTPServer):
    """Accepts connections, with TLS or without.

    Args:
        address: Host and port; port 0 takes a free one.
        handler: Handles one connection.
        limits: The certificates, if any, two times in seconds (how long a connection
            may be idle between requests, and how long a request may take to arrive),
            and the most connections.

    Attributes:
        tls: Wraps connections; None leaves them as they are.
        idle_seconds: See above.
        read_seconds: See above.
        connections: The open connections.

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
        self.connections = Connections(limits.connections)
        super().__init__(address, handler)

    @property
    def url(self) -> str:
        """Return the URL that the server listens on."""
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{self.server_address[0]!s}:{self.server_port}"

    def server_close(self) -> None:
        """Stop listening, and close all connections."""
        super().server_close()
        self.connections.hang_up()

    def server_bind(self) -> None:
        """Bind without a DNS lookup of the host's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = (
            str(self.server_address[0]),
            int(self.server_address[1]),
        )

    def get_request(self) -> tuple[socket, object]:
        """Accept a connection; its own thread does the handshake, if any."""
        connection, address = super().get_request()
        if self.tls is not None:
            connection = self.tls.wrap(connection)
        self.connections.add(connection)
        return connection, address

    def shutdown_request(self, request: object) -> None:
        """Remove a closed connection."""
        assert isinstance(request, socket)
        self.connections.remove(request)
        super().shutdown_request(request)

    def handle_error(
        self,
        request: object,  # noqa: ARG002 - the base class's
        client_address: object,
    ) -> None:
        """Log that a connection broke; the others continue."""
        _log.info("lost the connection to %s", client_address, exc_info=True)
