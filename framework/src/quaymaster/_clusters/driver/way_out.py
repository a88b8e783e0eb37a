"""The way out: one thread that sends every request of the engine, and waits for none.

See `docs/explanation/driver.md` for what was measured.
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
from quaymaster._clusters.driver.frames import Answered, Asked, Counted, Lane, Note
from quaymaster._clusters.driver.lanes import Lanes
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.issuing import Issuer

if TYPE_CHECKING:
    from _typeshed import HasFileno

__all__ = ["WayOut"]

_LIMITS: Final = {Lane.BIND: 128, Lane.STATUS: 32, Lane.READ: 16, Lane.EVENT: 8}
"""How many requests of a lane may be under way."""

_SECONDS_TO_ANSWER: Final = 65.0  # API servers themselves give up after 60
_SECONDS_TO_SWEEP: Final = 1.0


class WayOut:
    """Sends requests, and tells of their answers.

    One thread calls everything but `post` and `counted`.

    Args:
        access: Returns where the server is, and as whom to ask; it may block.
        tell: Takes the answers.
        flush: Called when there are no more answers for now.
        counts: Counts the requests.
        may_write: Asked right before a write leaves.
        qps: How many requests a second may leave; 0 for as many as the server takes.
        burst: How many may leave at once.
        issuer: Asks the program that gives credentials, if there is one.
    """

    def __init__(
        self,
        access: Callable[[], Access],
        tell: Callable[[Answered], None],
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
        self._answered: dict[int, Callable[[Answered], None]] = {}
        self._own_calls = itertools.count(-1, -1)
        self._tell = tell
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
            self._hear,
            now=time.monotonic,
            may_write=may_write,
            bucket=Bucket(qps, burst),
            event_bucket=Bucket(qps, burst),  # as upstream has two clients
        )

    def listen(self, end: "HasFileno", ready: Callable[[int], None]) -> None:
        """Have a call made whenever there is something to read."""
        self._selector.register(end, selectors.EVENT_READ, ready)

    def run(self) -> None:
        """Send requests and take answers, until it is to `leave`."""
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

    def take(self, asked: Asked) -> None:
        """Make a request once it is its turn."""
        self._lanes.take(asked)

    def note(self, note: Note) -> None:
        """Write an Event, or count it in, once nothing else is in the way."""
        self._events.note(note)

    def counted(self) -> Counted:
        """Return what was counted so far; from any thread."""
        counted = self._counts.counted()
        counted.dropped_events = self._events.dropped
        return counted

    def leave(self, seconds: float) -> None:
        """Have `run` return once everything is answered.

        Args:
            seconds: After how long nothing leaves any more.
        """
        self._ends = time.monotonic() + seconds
        self._lanes.leave(seconds)

    def post(self, call: Callable[[], None]) -> None:
        """Have a call made by the thread of `run`; from any thread."""
        self._calls.append(call)
        # The thread looks at the calls again once it has said that it sleeps.
        if self._is_asleep:
            self._waker.send(b"\0")

    def _take_own(self, asked: Asked, answered: Callable[[Answered], None]) -> None:
        """Make a request that the engine does not know of."""
        asked.call = next(self._own_calls)
        self._answered[asked.call] = answered
        self._lanes.take(asked)

    def _wants_events(self) -> bool:
        return self._lanes.is_short_of(Lane.EVENT)

    def _is_over(self, now: float) -> bool:
        if self._ends is None or not self._lanes.is_empty:
            return False
        return self._events.is_empty or now >= self._ends

    def _hear(self, answer: Answered) -> None:
        if answer.call < 0:
            self._answered.pop(answer.call)(answer)
        else:
            self._tell(answer)

    def _drain(self, _mask: int) -> None:
        self._woken.recv(1 << 12)
