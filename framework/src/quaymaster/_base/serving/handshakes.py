"""The TLS handshakes of connections on an event loop, within the same limits.

asyncio makes the protocol of a connection only after the handshake. A client that sends
nothing would hold a connection that no limit counts.
"""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol

from quaymaster._base.serving.limited_connections import LimitedConnections

__all__ = ["TimedHandshake"]


class TimedHandshake(SSLProtocol):
    """Adds TLS to a connection, and counts it from its first moment.

    Args:
        loop: The event loop.
        inner: The protocol of the decrypted connection.
        context: The TLS context.
        connections: The connections of this server.
    """

    # Bytes of each connection's buffer: a TLS record. asyncio's is 256 KiB.
    max_size = 1 << 14

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        inner: asyncio.Protocol,
        context: ssl.SSLContext,
        connections: LimitedConnections,
    ) -> None:
        seconds = connections.limits.head_seconds
        super().__init__(
            loop,
            inner,
            context,
            None,  # type: ignore[arg-type]  # nothing waits for the handshake
            server_side=True,
            ssl_handshake_timeout=seconds,  # type: ignore[arg-type]  # any number
            ssl_shutdown_timeout=seconds,
        )
        self._all_connections = connections
        self._raw: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, and begin the handshake."""
        assert isinstance(transport, asyncio.Transport)
        self._raw = transport
        self._all_connections.open(self)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Count it no longer."""
        self._all_connections.close(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close the connection at once."""
        if self._raw is not None:
            self._raw.abort()
