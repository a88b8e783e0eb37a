"""The HTTP protocol of connections on an event loop, with limits.

It needs the package uvicorn, from the extras ``serve`` and ``ui``.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quaymaster._base.serving.handshakes import TimedHandshake
from quaymaster._base.serving.heads import MOST_HEAD_BYTES, MOST_HEAD_FIELDS
from quaymaster._base.serving.limited_connections import (
    ConnectionLimits,
    LimitedConnections,
)

__all__ = ["TimedProtocol", "make_protocol"]


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that is silent, or whose client does not read its response.

    Between requests, and for their bodies, there are other limits.

    Args:
        arguments: Those of the base class.
        all_connections: The connections of this server. If there are too many, the one
            that is idle for longest is closed.
        options: Those of the base class.

    Attributes:
        handshake: The handshake of the connection, if it has TLS.
    """

    handshake: TimedHandshake | None = None

    _timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    _is_in_head = True
    _head_bytes = 0
    _unread_bytes = 0
    _response_deadline = 0.0

    def __init__(
        self, *arguments: Any, all_connections: LimitedConnections, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._all = all_connections
        self._limits = all_connections.limits

    def connection_made(  # type: ignore[override]  # as in the base class
        self, transport: asyncio.Transport
    ) -> None:
        """Start the timeout of the first request."""
        super().connection_made(transport)
        if self.handshake is None:
            self._all.open(self)
        else:
            self._all.forget(self.handshake)
            self._all.set_idle(self, True)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeouts."""
        self._stop()
        self._stop_reading_timer()
        if self.handshake is None:
            self._all.close(self)
        else:
            self._all.forget(self)
        super().connection_lost(exc)

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read data; close the connection if a head is too long."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > MOST_HEAD_BYTES:
            self.send_400_response("expected a shorter head")

    def on_message_begin(self) -> None:
        """Start the timeout of a request's head."""
        self._stop()
        self._wait()
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field; the parser makes a response 400 of the error.

        Raises:
            ValueError: There are too many fields, or they are too long.
        """
        self._head_bytes += len(name) + len(value)
        if len(self.headers) == MOST_HEAD_FIELDS:
            raise ValueError(f"expected at most {MOST_HEAD_FIELDS} fields")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Cancel the timeout; the parser makes a response 400 of the error.

        Raises:
            ValueError: Too many requests wait for their response.
        """
        self._stop()
        self._is_in_head = False
        self._all.set_idle(self, False)
        super().on_headers_complete()
        if len(self.pipeline) > self._limits.pipelined:
            raise ValueError("expected the client to wait for responses")

    def on_response_complete(self) -> None:
        """Note that the connection is idle, unless further requests wait."""
        if not self.pipeline:
            self._all.set_idle(self, True)
        super().on_response_complete()
        if self.pipeline and not self.transport.is_closing():
            # The base class reads on, so each response could make room for thousands
            # of requests.
            self.flow.pause_reading()

    def pause_writing(self) -> None:
        """Start the timeout of a response that its client does not read."""
        super().pause_writing()
        self._all.set_unread(self, True)
        self._response_deadline = self.loop.time() + self._limits.response_seconds
        self._watch_reading()

    def resume_writing(self) -> None:
        """Cancel that timeout."""
        self._stop_reading_timer()
        super().resume_writing()

    def _watch_reading(self) -> None:
        self._unread_bytes = self.transport.get_write_buffer_size()
        seconds = self._limits.unread_seconds
        self._reading_timer = self.loop.call_later(seconds, self._judge_reading)

    def _judge_reading(self) -> None:
        is_stuck = self.transport.get_write_buffer_size() >= self._unread_bytes
        if is_stuck or self.loop.time() > self._response_deadline:
            self.transport.abort()
        else:
            self._watch_reading()

    def _stop_reading_timer(self) -> None:
        self._all.set_unread(self, False)
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _wait(self) -> None:
        seconds = self._limits.head_seconds
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def make_protocol(
    limits: ConnectionLimits | None = None, tls: ssl.SSLContext | None = None
) -> Callable[..., asyncio.BaseProtocol]:
    """Return what makes the protocols of the connections of one server.

    Args:
        limits: Their limits; None for the usual ones.
        tls: The TLS context; None for plain HTTP. The server itself must have none.
    """
    connections = LimitedConnections(limits or ConnectionLimits())

    def make(*arguments: Any, **options: Any) -> asyncio.BaseProtocol:
        protocol = TimedProtocol(*arguments, all_connections=connections, **options)
        if tls is None:
            return protocol
        protocol.handshake = TimedHandshake(protocol.loop, protocol, tls, connections)
        return protocol.handshake

    return make
