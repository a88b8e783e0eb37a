"""The non-blocking connections of one lane: each carries one request at a time."""

import select
import selectors
import socket
import ssl
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from quaymaster._clusters.driver.dialling import Dial, Endpoint
from quaymaster._clusters.driver.frames import Request
from quaymaster._clusters.driver.parallelism import Parallelism
from quaymaster._clusters.kubernetes.client import Count
from quaymaster._clusters.kubernetes.http1 import (
    AnswerReader,
    HttpError,
    Reply,
    request_bytes,
)

__all__ = ["Connections", "Lost", "Outcome"]

# A busy server bound as many pods per second over 16 connections as over 128.
_FEW: Final = 16
"""So many are opened on demand. A server that responds quickly handles no more requests
if they arrive over more connections."""

_SLOW: Final = 0.05  # seconds; if responses take longer, more connections may help
_MOST_BEING_MADE: Final = 2
_SECONDS_IDLE: Final = 60.0  # API servers close after 90
_FIRST_PAUSE: Final = 0.1  # seconds, after the server could not be reached
_LONGEST_PAUSE: Final = 2.0
_BLOCK: Final = 1 << 16
_UNAUTHORIZED: Final = 401
_NOT_NOW: Final = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


@attrs.frozen
class Lost:
    """A request without a response.

    Attributes:
        why: The error.
        is_sent: Whether the server may have received the request.
    """

    why: str
    is_sent: bool


Outcome: TypeAlias = Reply | Lost
Done: TypeAlias = Callable[[Outcome], None]


class Connections:
    """Sends the requests of a lane.

    Args:
        dial: Opens connections.
        selector: Watches the sockets. The data of each socket is the function to call
            when it is ready.
        now: Returns the seconds of a monotonic clock.
        count: Counts each request by its method, status and seconds; the status is 0 if
            there was no response.
        limit: The most connections.
        timeout: For how many seconds to wait for a response.

    Attributes:
        trouble: Why the server cannot be reached right now; empty if it can.
    """

    def __init__(
        self,
        dial: Dial,
        selector: selectors.BaseSelector,
        now: Callable[[], float],
        count: Count,
        *,
        limit: int,
        timeout: float,
    ) -> None:
        self._dial = dial
        self._selector = selector
        self._now = now
        self._count = count
        self._parallelism = Parallelism(_FEW, limit)
        self._timeout = timeout
        self._idle: list[_Wire] = []
        self._busy: dict[_Wire, None] = {}  # the oldest request first
        self._being_made = 0
        self._pause = _FIRST_PAUSE
        self._next_try = 0.0
        self._why = ""

    @property
    def trouble(self) -> str:
        """Why nothing can be sent; empty if requests can be sent, or at the start."""
        return self._why or ("" if self._dial.endpoint else self._dial.trouble)

    def is_free(self, waiting: int) -> bool:
        """Return whether a request can be sent now; if not, open a connection.

        Args:
            waiting: How many requests wait.
        """
        endpoint = self._dial.endpoint
        if endpoint is None:
            return False
        if len(self._busy) >= self._parallelism.limit:
            now = self._now()
            if self._is_slow(now):
                self._parallelism.press(now)
            return False
        while self._idle:
            if self._idle[-1].can_be_used(endpoint):
                return True
            self._idle.pop().close()
        if self._being_made < min(waiting, _MOST_BEING_MADE) and self._is_short():
            self._being_made += 1
            self._dial.open(self._opened)
        return False

    def send(self, request: Request, done: Done) -> None:
        """Send a request over a free connection; `done` may be called at once."""
        endpoint = self._dial.endpoint
        assert endpoint is not None, "is_free returned True"
        wire = self._idle.pop()
        self._busy[wire] = None
        data = request_bytes(
            request.method,
            endpoint.path + request.target,
            endpoint.lines,
            request.body,
            request.content_type,
        )

        def answered(outcome: Outcome) -> None:
            del self._busy[wire]
            self._parallelism.answered()
            begun, now = wire.since, self._now()
            if wire.is_open:
                wire.since = now
                self._idle.append(wire)
            if isinstance(outcome, Reply):
                self._count(request.method, outcome.code, now - begun)
                if outcome.code == _UNAUTHORIZED:
                    self._dial.renew(endpoint)  # is_free returns False until then
            elif outcome.is_sent:
                self._count(request.method, 0, now - begun)
            done(outcome)

        wire.since = self._now()
        wire.send(data, answered)

    def sweep(self) -> None:
        """Close connections that time out or idle; to be called every second."""
        now = self._now()
        for wire in [wire for wire in self._busy if now - wire.since > self._timeout]:
            wire.lose(f"no response in {self._timeout:.0f} seconds")
        for wire in self._idle:
            if now - wire.since > _SECONDS_IDLE:
                wire.close()
        self._idle = [wire for wire in self._idle if wire.is_open]

    def _is_short(self) -> bool:
        """Return whether to open one more connection."""
        now, count = self._now(), len(self._busy) + self._being_made
        if now < self._next_try or count >= self._parallelism.limit:
            return False
        return count < _FEW or self._is_slow(now)

    def _is_slow(self, now: float) -> bool:
        """Return whether the oldest request has waited for long."""
        oldest = next(iter(self._busy), None)
        return oldest is not None and now - oldest.since > _SLOW

    def _opened(self, connection: socket.socket | str, endpoint: Endpoint) -> None:
        self._being_made -= 1
        if isinstance(connection, str):
            self._why = connection
            self._next_try = self._now() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            return
        self._why, self._pause = "", _FIRST_PAUSE
        self._idle.append(_Wire(connection, endpoint, self._selector, self._now()))


class _Wire:
    """One connection.

    Args:
        connection: The socket.
        endpoint: The server and the credentials with which it was opened.
        selector: Watches the socket.
        since: When it was last used.
    """

    def __init__(
        self,
        connection: socket.socket,
        endpoint: Endpoint,
        selector: selectors.BaseSelector,
        since: float,
    ) -> None:
        self._socket = connection
        self._endpoint = endpoint
        self._selector = selector
        self._reader = AnswerReader()
        self._done: Done | None = None
        self._rest = b""
        self.since = since
        self.is_open = True
        selector.register(connection, selectors.EVENT_READ, self.ready)

    def can_be_used(self, endpoint: Endpoint) -> bool:
        """Return whether a request with these credentials can be sent."""
        # The server may have closed it. A binding that is sent into a closed connection
        # is in doubt, and its pod waits until the server shows what became of it.
        if self.is_open and select.select([self._socket], (), (), 0)[0]:
            self.ready(selectors.EVENT_READ)
        if not self.is_open:
            return False
        # Identity: it avoids comparing all fields for each request.
        if self._endpoint is endpoint:
            return True
        if not self._endpoint.is_reached_like(endpoint):
            return False
        self._endpoint = endpoint
        return True

    def send(self, data: bytes, done: Done) -> None:
        """Send a request; `done` is called with its outcome."""
        self._done, self._rest = done, data
        self._write(is_first=True)

    def ready(self, mask: int) -> None:
        """Continue, because the socket can be read or written."""
        if mask & selectors.EVENT_WRITE and self._rest:
            self._write()
        if mask & selectors.EVENT_READ and self.is_open:
            self._read()

    def lose(self, why: str, *, is_sent: bool = True) -> None:
        """Close it; a request without a response is lost."""
        self.close()
        done, self._done = self._done, None
        if done is not None:
            done(Lost(why, is_sent))

    def close(self) -> None:
        """Close the connection."""
        if self.is_open:
            self.is_open = False
            self._selector.unregister(self._socket)
            self._socket.close()

    def _write(self, *, is_first: bool = False) -> None:
        try:
            count = self._socket.send(self._rest)
        except _NOT_NOW:
            count = 0
        except OSError as error:
            # If the first write fails, nothing has left: the request may be sent over
            # another connection without doubt.
            self.lose(_why(error), is_sent=not is_first)
            return
        was_left, self._rest = not is_first, self._rest[count:]
        if self._rest or was_left:
            also = selectors.EVENT_WRITE if self._rest else 0
            self._selector.modify(self._socket, selectors.EVENT_READ | also, self.ready)

    def _read(self) -> None:
        reply, data = None, b""
        while reply is None:
            try:
                data = self._socket.recv(_BLOCK)
                reply = self._reader.feed(data) if data else self._reader.end()
            except _NOT_NOW:
                return
            except OSError as error:
                self.lose(_why(error))
                return
            except HttpError as error:
                self.lose(str(error))
                return
            if not data and reply is None:
                self.lose("the connection was closed before a response arrived")
                return
        done, self._done = self._done, None
        # A reply that nothing was sent for, or one that comes before its request has
        # left, makes the next reply on this connection ambiguous.
        if done is None or reply.is_last or not data or self._rest:
            self.close()
        if done is not None:
            done(reply)


def _why(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
