"""The connections of one server on an event loop, and their limits."""

from typing import Final, Protocol

import attrs

from quaymaster._base.serving.connections import most_connections

__all__ = ["ACCEPTS", "BACKLOG", "ConnectionLimits", "LimitedConnections"]

BACKLOG: Final = 128
"""How many clients may wait until their connection is accepted."""
ACCEPTS: Final = 32
"""How many connections the event loop accepts before it handles one of them.

This is asyncio's ``backlog``. Chosen, not measured: a turn of the loop takes far longer
to answer requests than to accept so many.
"""
_TURNS: Final = 5
"""Turns of the loop until a connection that must make room is closed, and one more."""


def _most_connections() -> int:
    return most_connections(pending=_TURNS * ACCEPTS)


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

    connections: int = attrs.field(factory=_most_connections)
    # As long as the project's other servers wait for a request.
    head_seconds: float = 30.0
    unread_seconds: float = 30.0
    response_seconds: float = 600.0  # chosen, not measured: 10 MB over a slow line
    unread_responses: int = 64
    pipelined: int = 32


class _Connection(Protocol):
    """A connection that can be closed at once."""

    def abort(self) -> None: ...


class LimitedConnections:
    """The connections of one server. If there are too many, one is closed.

    Attributes:
        limits: Their limits.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._count = 0
        # The one that is idle, or that has to read its response, for longest is first.
        self._idle: dict[_Connection, None] = {}
        self._unread: dict[_Connection, None] = {}

    def open(self, connection: _Connection) -> None:
        """Add an accepted connection, which is idle."""
        self._count += 1
        self._idle[connection] = None
        if self._count > self.limits.connections:
            _abort_first(self._idle)

    def close(self, connection: _Connection) -> None:
        """Remove a closed connection."""
        self._count -= 1
        self.forget(connection)

    def forget(self, connection: _Connection) -> None:
        """Remove what is noted of a connection; it still counts as open."""
        self._idle.pop(connection, None)
        self._unread.pop(connection, None)

    def set_idle(self, connection: _Connection, is_idle: bool) -> None:
        """Note whether a connection has no request."""
        if is_idle:
            self._idle[connection] = None
        else:
            self._idle.pop(connection, None)

    def set_unread(self, connection: _Connection, is_unread: bool) -> None:
        """Note whether the client has to read a response before the next byte."""
        if not is_unread:
            self._unread.pop(connection, None)
            return
        self._unread[connection] = None
        if len(self._unread) > self.limits.unread_responses:
            _abort_first(self._unread)


def _abort_first(connections: dict[_Connection, None]) -> None:
    first = next(iter(connections))
    # It is closed only later.
    del connections[first]
    first.abort()
