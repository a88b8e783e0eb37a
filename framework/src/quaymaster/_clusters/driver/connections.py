"""The connections of one lane: one request at a time on each, none of which blocks."""

import select
import selectors
import socket
import ssl
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from quaymaster._clusters.driver.dialling import Dial, Made
from quaymaster._clusters.driver.frames import Asked
from quaymaster._clusters.driver.width import Width
from quaymaster._clusters.kubernetes.client import Count
from quaymaster._clusters.kubernetes.http1 import (
    AnswerReader,
    HttpError,
    Reply,
    request_bytes,
)

__all__ = ["Connections", "Lost", "Outcome"]

_FEW: Final = 16
"""As many as are made if they are wanted. A server that answers quickly does no more
when it is asked by more at once."""

_SLOW: Final = 0.05  # seconds that an answer takes, from which on more may be of use
_MOST_BEING_MADE: Final = 2
_SECONDS_IDLE: Final = 60.0  # API servers close after 90
_FIRST_PAUSE: Final = 0.1  # seconds, after the server could not be reached
_LONGEST_PAUSE: Final = 2.0
_BLOCK: Final = 1 << 16
_UNAUTHORIZED: Final = 401
_NOT_NOW: Final = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


@attrs.frozen
class Lost:
    """No answer came.

    Attributes:
        why: The error.
        is_sent: Whether the server may have got the request.
    """

    why: str
    is_sent: bool


Outcome: TypeAlias = Reply | Lost
Done: TypeAlias = Callable[[Outcome], None]


class Connections:
    """Sends the requests of a lane.

    Args:
        dial: Makes connections.
        selector: Tells when they are ready; their data are called then.
        now: Seconds, by a clock that nobody sets.
        count: Takes the method, the status and the seconds of each request; the status
            is 0 if there was no answer.
        limit: How many there may be.
        timeout: For how many seconds to wait for an answer.

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
        self._width = Width(_FEW, limit)
        self._timeout = timeout
        self._idle: list[_Wire] = []
        self._busy: dict[_Wire, None] = {}  # the oldest request first
        self._being_made = 0
        self._pause = _FIRST_PAUSE
        self._next_try = 0.0
        self._why = ""

    @property
    def trouble(self) -> str:
        """Why nothing can be sent; empty if it can, or nobody knows yet."""
        return self._why or ("" if self._dial.made else self._dial.trouble)

    def is_free(self, waiting: int) -> bool:
        """Whether a request can be sent now; if not, see to it that it can be soon.

        Args:
            waiting: How many requests wait.
        """
        made = self._dial.made
        if made is None:
            return False
        if len(self._busy) >= self._width.limit:
            now = self._now()
            if self._is_slow(now):
                self._width.press(now)
            return False
        while self._idle:
            if self._idle[-1].can_be_used(made):
                return True
            self._idle.pop().close()
        if self._being_made < min(waiting, _MOST_BEING_MADE) and self._is_short():
            self._being_made += 1
            self._dial.open(self._opened)
        return False

    def send(self, asked: Asked, done: Done) -> None:
        """Send a request by a free connection; `done` may be called at once."""
        made = self._dial.made
        assert made is not None, "is_free has said so"
        wire = self._idle.pop()
        self._busy[wire] = None
        data = request_bytes(
            asked.method,
            made.path + asked.target,
            made.lines,
            asked.body,
            asked.content_type,
        )

        def answered(outcome: Outcome) -> None:
            del self._busy[wire]
            self._width.answered()
            begun, now = wire.since, self._now()
            if wire.is_open:
                wire.since = now
                self._idle.append(wire)
            if isinstance(outcome, Reply):
                self._count(asked.method, outcome.code, now - begun)
                if outcome.code == _UNAUTHORIZED:
                    self._dial.renew(made)  # nothing is free until that is done
            elif outcome.is_sent:
                self._count(asked.method, 0, now - begun)
            done(outcome)

        wire.since = self._now()
        wire.send(data, answered)

    def sweep(self) -> None:
        """Give up what has been waited for long enough; to be called now and then."""
        now = self._now()
        for wire in [one for one in self._busy if now - one.since > self._timeout]:
            wire.lose(f"no answer in {self._timeout:.0f} seconds")
        for wire in self._idle:
            if now - wire.since > _SECONDS_IDLE:
                wire.close()
        self._idle = [wire for wire in self._idle if wire.is_open]

    def _is_short(self) -> bool:
        """Whether one more is of use."""
        now, count = self._now(), len(self._busy) + self._being_made
        if now < self._next_try or count >= self._width.limit:
            return False
        return count < _FEW or self._is_slow(now)

    def _is_slow(self, now: float) -> bool:
        """Whether the oldest request waits for long."""
        oldest = next(iter(self._busy), None)
        return oldest is not None and now - oldest.since > _SLOW

    def _opened(self, connection: socket.socket | str, made: Made) -> None:
        self._being_made -= 1
        if isinstance(connection, str):
            self._why = connection
            self._next_try = self._now() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            return
        self._why, self._pause = "", _FIRST_PAUSE
        self._idle.append(_Wire(connection, made, self._selector, self._now()))


class _Wire:
    """One connection.

    Args:
        connection: The socket.
        made: What it was made with.
        selector: Tells when it is ready.
        since: When it was last used.
    """

    def __init__(
        self,
        connection: socket.socket,
        made: Made,
        selector: selectors.BaseSelector,
        since: float,
    ) -> None:
        self._socket = connection
        self._made = made
        self._selector = selector
        self._reader = AnswerReader()
        self._done: Done | None = None
        self._rest = b""
        self.since = since
        self.is_open = True
        selector.register(connection, selectors.EVENT_READ, self.ready)

    def can_be_used(self, made: Made) -> bool:
        """Whether a request can be sent, made with these credentials."""
        if self.is_open and select.select([self._socket], (), (), 0)[0]:
            self.ready(selectors.EVENT_READ)  # the server may have closed it
        if not self.is_open:
            return False
        # Identity: what is the same needs no comparing.
        if self._made is made:
            return True
        if not self._made.is_reached_like(made):
            return False
        self._made = made
        return True

    def send(self, data: bytes, done: Done) -> None:
        """Send a request; `done` is called with what comes of it."""
        self._done, self._rest = done, data
        self._write(is_first=True)

    def ready(self, mask: int) -> None:
        """Go on: the socket can be read or written."""
        if mask & selectors.EVENT_WRITE and self._rest:
            self._write()
        if mask & selectors.EVENT_READ and self.is_open:
            self._read()

    def lose(self, why: str, *, is_sent: bool = True) -> None:
        """Close it; if an answer was waited for, it is lost."""
        self.close()
        done, self._done = self._done, None
        if done is not None:
            done(Lost(why, is_sent))

    def close(self) -> None:
        """Close it."""
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
                self.lose("the connection was closed before an answer came")
                return
        done, self._done = self._done, None
        if done is None or reply.is_last or not data or self._rest:
            self.close()
        if done is not None:
            done(reply)


def _why(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
