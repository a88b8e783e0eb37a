"""The way out: one thread that sends every request of the engine, and waits for none.

See `docs/explanation/driver.md` for what was measured.
"""

import itertools
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from quaymaster._driver.buckets import Bucket
from quaymaster._driver.connections import Connections
from quaymaster._driver.counts import CountedRoad, RequestCounts
from quaymaster._driver.dialling import Dial
from quaymaster._driver.events import Events
from quaymaster._driver.frames import Answered, Asked, Lane, Note
from quaymaster._driver.lanes import Lanes
from quaymaster._kubernetes.access import Access

__all__ = ["WayOut"]

_LIMITS: Final = {Lane.BIND: 128, Lane.STATUS: 32, Lane.READ: 16, Lane.EVENT: 8}
"""How many requests of a lane may be under way."""

_SECONDS_TO_ANSWER: Final = 65.0  # API servers themselves give up after 60
_SECONDS_TO_SWEEP: Final = 1.0


class WayOut:
    """Sends requests, and tells of their answers.

    Args:
        access: Returns where the server is, and as whom to ask; it may block.
        tell: Takes the answers, on the thread that sends.
        may_write: Asked right before a write leaves.
        qps: How many requests a second may leave; 0 for as many as the server takes.
        burst: How many may leave at once.

    Attributes:
        counts: Counts the requests.
    """

    def __init__(
        self,
        access: Callable[[], Access],
        tell: Callable[[Answered], None],
        *,
        may_write: Callable[[], bool],
        qps: float = 0.0,
        burst: int = 0,
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._calls: deque[Callable[[], None]] = deque()
        self._is_asleep = False
        self._is_ending = False
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, self._drain)
        self.counts = RequestCounts()
        self._dial = Dial(access, self._post)
        self._answered: dict[int, Callable[[Answered], None]] = {}
        self._own_calls = itertools.count(-1, -1)
        self._tell = tell
        self._events = Events(self._take_own)
        self._lanes = Lanes(
            {
                lane: CountedRoad(
                    Connections(
                        self._dial,
                        self._selector,
                        time.monotonic,
                        limit=limit,
                        timeout=_SECONDS_TO_ANSWER,
                    ),
                    self.counts,
                )
                for lane, limit in _LIMITS.items()
            },
            self._hear,
            now=time.monotonic,
            may_write=may_write,
            bucket=Bucket(qps, burst),
            event_bucket=Bucket(qps, burst),  # as upstream has two clients
        )
        self._thread = threading.Thread(target=self._run, name="way-out", daemon=True)

    def start(self) -> None:
        """Begin, on threads that end with the process."""
        self._dial.start()
        self._thread.start()

    def take(self, asked: Asked) -> None:
        """Make a request once it is its turn; from any thread."""
        self._post(lambda: self._lanes.take(asked))

    def note(self, note: Note) -> None:
        """Write an Event, or count it in; from any thread."""
        self._post(lambda: self._events.note(note))

    def leave(self, seconds: float) -> None:
        """Return once everything is answered; nothing leaves after some seconds."""

        def end() -> None:
            self._is_ending = True
            self._lanes.leave(seconds)

        self._post(end)
        self._thread.join()

    def _post(self, call: Callable[[], None]) -> None:
        self._calls.append(call)
        # The thread looks at the calls again once it has said that it sleeps.
        if self._is_asleep:
            self._waker.send(b"\0")

    def _take_own(self, asked: Asked, answered: Callable[[Answered], None]) -> None:
        """Make a request that the engine does not know of."""
        asked.call = next(self._own_calls)
        self._answered[asked.call] = answered
        self._lanes.take(asked)

    def _hear(self, answer: Answered) -> None:
        if answer.call < 0:
            self._answered.pop(answer.call)(answer)
        else:
            self._tell(answer)

    def _drain(self, _mask: int) -> None:
        self._woken.recv(1 << 12)

    def _run(self) -> None:
        sweep = time.monotonic() + _SECONDS_TO_SWEEP
        while True:
            while self._calls:
                self._calls.popleft()()
            pause = self._lanes.pump()
            if self._is_ending and self._lanes.is_empty:
                return
            if time.monotonic() >= sweep:
                self._lanes.sweep()
                self._events.look()
                sweep = time.monotonic() + _SECONDS_TO_SWEEP
            self._is_asleep = True
            if self._calls:
                pause = 0.0
            longest = _SECONDS_TO_SWEEP if pause is None else pause
            ready = self._selector.select(min(longest, _SECONDS_TO_SWEEP))
            self._is_asleep = False
            for key, mask in ready:
                key.data(mask)
