"""The HTTP protocol of connections on an event loop, with limits.

It needs the package uvicorn, from the extras ``serve`` and ``ui``.
"""

import asyncio
import functools
from collections.abc import Callable
from typing import Any, Final

import attrs
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quaymaster._base.serving.connections import most_connections
from quaymaster._base.serving.heads import MOST_HEAD_BYTES, MOST_HEAD_FIELDS

__all__ = ["BACKLOG", "ConnectionLimits", "TimedProtocol", "make_protocol"]

BACKLOG: Final = 128
"""How many clients may wait until their connection is accepted.

asyncio accepts so many connections at once, before it handles one of them. So there
must be room for more open files than `most_connections` has.
"""


@attrs.frozen(kw_only=True)
class ConnectionLimits:
    """The limits of the connections of one server.

    Attributes:
        connections: The most connections.
        head_seconds: How long a connection may be silent at first, and how long the
            head of a request may take to arrive.
        unread_seconds: How long a client may read nothing of a response.
        response_seconds: How long a client may take to read a response.
        unread_responses: The most connections with a response that waits for its
            client to read it.
        pipelined: The most requests that a client may send before it has the response
            to the first one.
    """

    connections: int = attrs.field(factory=most_connections)
    # As long as the project's other servers wait for a request.
    head_seconds: float = 30.0
    unread_seconds: float = 30.0
    response_seconds: float = 600.0  # chosen, not measured: 10 MB over a slow line
    unread_responses: int = 64
    pipelined: int = 32


class _Connections:
    """The connections of one server.

    Attributes:
        limits: Their limits.
        idle: Those that have no request, the one that is idle for longest first.
        unread: Those whose client has to read a response, the longest first.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.idle: dict[TimedProtocol, None] = {}
        self.unread: dict[TimedProtocol, None] = {}


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that is silent, or whose client does not read its response.

    Between requests, and for their bodies, there are other limits.

    Args:
        arguments: Those of the base class.
        all_connections: The connections of this server. If there are too many, the one
            that is idle for longest is closed.
        options: Those of the base class.
    """

    _timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    _is_in_head = True
    _head_bytes = 0
    _unread_bytes = 0
    _response_deadline = 0.0

    def __init__(
        self, *arguments: Any, all_connections: _Connections, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._all = all_connections
        self._limits = all_connections.limits

    def connection_made(  # type: ignore[override]  # as in the base class
        self, transport: asyncio.Transport
    ) -> None:
        """Start the timeout of the first request."""
        super().connection_made(transport)
        idle = self._all.idle
        idle[self] = None
        if len(self.connections) > self._limits.connections and idle:
            _abort_first(idle)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeouts."""
        self._stop()
        self._stop_reading_timer()
        self._all.idle.pop(self, None)
        super().connection_lost(exc)

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
        self._all.idle.pop(self, None)
        super().on_headers_complete()
        if len(self.pipeline) > self._limits.pipelined:
            raise ValueError("expected the client to wait for responses")

    def on_response_complete(self) -> None:
        """Note that the connection is idle, unless further requests wait."""
        if not self.pipeline:
            self._all.idle[self] = None
        super().on_response_complete()
        if self.pipeline and not self.transport.is_closing():
            # The base class reads on, so each response could make room for thousands
            # of requests.
            self.flow.pause_reading()

    def pause_writing(self) -> None:
        """Start the timeout of a response that its client does not read."""
        super().pause_writing()
        unread = self._all.unread
        unread[self] = None
        if len(unread) > self._limits.unread_responses:
            _abort_first(unread)
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
        self._all.unread.pop(self, None)
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


def _abort_first(protocols: dict[TimedProtocol, None]) -> None:
    first = next(iter(protocols))
    # Its connection is lost only later.
    del protocols[first]
    first.transport.abort()


def make_protocol(
    limits: ConnectionLimits | None = None,
) -> Callable[..., TimedProtocol]:
    """Return what makes the protocols of the connections of one server.

    Args:
        limits: Their limits; None for the usual ones.
    """
    connections = _Connections(limits or ConnectionLimits())
    return functools.partial(TimedProtocol, all_connections=connections)
