"""Sends every request of the engine on one thread, which waits only for its sockets.

`docs/explanation/driver.md` has the measurements.
"""

import itertools
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from quaymaster._clusters.driver.buckets import Bucket
from quaymaster._clusters.driver.connections import Connections
from quaymaster._clusters.driver.counts import RequestCounts
from quaymaster._clusters.driver.dialling import Dial
from quaymaster._clusters.driver.events import Events
from quaymaster._clusters.driver.frames import Counted, Lane, Note, Request, Response
from quaymaster._clusters.driver.lanes import Lanes
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.issuing import Issuer

if TYPE_CHECKING:
    from _typeshed import HasFileno

__all__ = ["Outbound"]

_LIMITS: Final = {Lane.BIND: 128, Lane.STATUS: 32, Lane.READ: 16, Lane.EVENT: 8}
"""The most requests in flight of each lane."""

_SECONDS_TO_ANSWER: Final = 65.0  # API servers time out after 60
_SECONDS_TO_SWEEP: Final = 1.0


class Outbound:
    """Sends requests, and returns their responses.

    One thread calls all methods except `post` and `counted`.

    Args:
        access: Returns the server's address and the credentials; it may block.
        respond: Receives the responses.
        flush: Called when there are no more responses for now.
        counts: Counts the requests.
        may_write: Called immediately before a write is sent.
        qps: The requests per second; 0 for no limit.
        burst: The requests at once.
        issuer: Runs the credential program, if any.
    """

    def __init__(
        self,
        access: Callable[[], Access],
        respond: Callable[[Response], None],
        flush: Callable[[], None] = lambda: None,
        *,
        counts: RequestCounts,
        may_write: Callable[[], bool],
        qps: float = 0.0,
        burst: int = 0,
        issuer: Issuer | None = None,
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._calls: deque[Callable[[], None]] = deque()
        self._is_asleep = False
        self._ends: float | None = None
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, self._drain)
        self._counts = counts
        self._dial = Dial(access, self.post, issuer)
        self._answered: dict[int, Callable[[Response], None]] = {}
        self._own_calls = itertools.count(-1, -1)
        self._respond = respond
        self._flush = flush
        self._events = Events(self._take_own)
        self._lanes = Lanes(
            {
                lane: Connections(
                    self._dial,
                    self._selector,
                    time.monotonic,
                    counts.note,
                    limit=limit,
                    timeout=_SECONDS_TO_ANSWER,
                )
                for lane, limit in _LIMITS.items()
            },
            self._take_response,
            now=time.monotonic,
            may_write=may_write,
            bucket=Bucket(qps, burst),
            event_bucket=Bucket(qps, burst),  # upstream has a second client for events
        )

    def listen(self, end: "HasFileno", ready: Callable[[int], None]) -> None:
        """Call `ready` whenever the socket can be read."""
        self._selector.register(end, selectors.EVENT_READ, ready)

    def run(self) -> None:
        """Send requests and read responses, until `leave` ends it."""
        self._dial.start()
        sweep = 0.0
        while True:
            while self._calls:
                self._calls.popleft()()
            self._events.make(self._wants_events)
            pause = self._lanes.pump()
            self._flush()
            now = time.monotonic()
            if self._is_over(now):
                return
            if now >= sweep:
                self._lanes.sweep()
                self._events.look()
                sweep = now + _SECONDS_TO_SWEEP
            self._is_asleep = True
            if self._calls:
                pause = 0.0
            longest = _SECONDS_TO_SWEEP if pause is None else pause
            ready = self._selector.select(min(longest, _SECONDS_TO_SWEEP))
            self._is_asleep = False
            for key, mask in ready:
                key.data(mask)

    def take(self, request: Request) -> None:
        """Queue a request."""
        self._lanes.take(request)

    def note(self, note: Note) -> None:
        """Queue an Event, to be written or counted later."""
        self._events.note(note)

    def counted(self) -> Counted:
        """Return the counts since the start; any thread may call it."""
        counted = self._counts.counted()
        counted.dropped_events = self._events.dropped
        return counted

    def leave(self, seconds: float) -> None:
        """Make `run` return once all requests are answered.

        Args:
            seconds: After how long no more requests are sent.
        """
        self._ends = time.monotonic() + seconds
        self._lanes.leave(seconds)

    def post(self, call: Callable[[], None]) -> None:
        """Make the thread of `run` call a function; any thread may call it."""
        self._calls.append(call)
        # The loop checks the calls again after it sets the flag, so none is missed.
        if self._is_asleep:
            self._waker.send(b"\0")

    def _take_own(
        self, request: Request, respond_own: Callable[[Response], None]
    ) -> None:
        """Queue a request of this process, whose response the engine does not get."""
        request.call = next(self._own_calls)
        self._answered[request.call] = respond_own
        self._lanes.take(request)

    def _wants_events(self) -> bool:
        return self._lanes.is_short_of(Lane.EVENT)

    def _is_over(self, now: float) -> bool:
        if self._ends is None or not self._lanes.is_empty:
            return False
        return self._events.is_empty or now >= self._ends

    def _take_response(self, answer: Response) -> None:
        if answer.call < 0:
            self._answered.pop(answer.call)(answer)
        else:
            self._respond(answer)

    def _drain(self, _mask: int) -> None:
        self._woken.recv(1 << 12)
