"""The HTTP protocol of connections, with limits for the heads of requests."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from quaymaster._base.serving.connections import most_connections
from quaymaster._base.serving.heads import MOST_HEAD_BYTES, MOST_HEAD_FIELDS

__all__ = ["TimedProtocol", "make_protocol"]

# As long as the project's other servers wait for a request.
_HEAD_SECONDS: Final = 30


class TimedProtocol(HttpToolsProtocol):
    """Closes a connection that is silent at first, or within the head of a request.

    Between requests, and for their bodies, there are other limits.

    Args:
        idle: The connections that have no request, the one that is idle for longest
            first. If there are too many connections, that one is closed.
        most: The most connections.
        arguments: Those of the base class.
        options: Those of the base class.
    """

    _timer: asyncio.TimerHandle | None = None
    _is_in_head = True
    _head_bytes = 0

    def __init__(
        self,
        *arguments: Any,
        idle: "dict[TimedProtocol, None]",
        most: int,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._idle = idle
        self._most = most

    def connection_made(  # type: ignore[override]  # as in the base class
        self, transport: asyncio.Transport
    ) -> None:
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._idle[self] = None
        if len(self.connections) > self._most:
            next(iter(self._idle)).transport.abort()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._stop()
        self._idle.pop(self, None)
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
        """Cancel the timeout."""
        self._stop()
        self._is_in_head = False
        self._idle.pop(self, None)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note that the connection is idle."""
        self._idle[self] = None
        super().on_response_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def make_protocol() -> Callable[..., TimedProtocol]:
    """Return what makes the protocols of the connections of one server."""
    return functools.partial(TimedProtocol, idle={}, most=most_connections())
