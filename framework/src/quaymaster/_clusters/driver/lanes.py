"""Lanes: requests that share connections and limits, so that others do not wait.

This module decides which request is sent next, which are sent again, and which are in
doubt. It runs on one thread, and never blocks.
"""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import attrs

from quaymaster._clusters.driver.buckets import Bucket
from quaymaster._clusters.driver.connections import Lost, Outcome
from quaymaster._clusters.driver.frames import Lane, Request, Response
from quaymaster._clusters.driver.refusals import refusal
from quaymaster._clusters.kubernetes.http1 import Reply

__all__ = ["Lanes", "Road"]

PATIENCE: Final[Mapping[Lane, float]] = {
    Lane.READ: 5.0,
    Lane.BIND: 10.0,
    Lane.STATUS: 30.0,
    Lane.EVENT: 30.0,
}
"""For how many seconds requests wait for an unreachable server, or are repeated if that
is harmless. The order is that in which lanes are served."""

_OK: Final = 200
_REDIRECT: Final = 300
_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_MOST_WAITS: Final = 10  # as client-go
_LONGEST_WAIT: Final = 60.0
_FIRST_PAUSE: Final = 0.25  # seconds, before a request is repeated
_LONGEST_PAUSE: Final = 4.0
_SHORTEST: Final = 0.01  # seconds to look again, while connections are being made
_ENOUGH: Final = 8  # waiting requests, with which a lane does not become idle


class Road(Protocol):
    """Sends the requests of a lane, see `Connections`."""

    @property
    def trouble(self) -> str:
        """Why the server cannot be reached right now; empty if it can."""

    def is_free(self, waiting: int) -> bool:
        """Return whether a request can be sent now; if not, open a connection."""

    def send(self, request: Request, done: Callable[[Outcome], None]) -> None:
        """Send a request."""

    def sweep(self) -> None:
        """Close connections that time out or idle."""


@attrs.define(eq=False)
class _Pending:
    """A request without a response.

    Attributes:
        request: The request.
        since: When the engine requested it.
        sent: How often it was sent.
        doubts: How often it was sent and may have taken effect.
        waits: How often the server has responded with 429.
        is_renewed: Whether it is retried with other credentials.
        is_under_way: Whether it was sent, and has no response yet.
        is_over: Whether it has been answered without being sent.
    """

    request: Request
    since: float
    sent: int = 0
    doubts: int = 0
    waits: int = 0
    is_renewed: bool = False
    is_under_way: bool = False
    is_over: bool = False


@attrs.define(eq=False)
class _Queue:
    """The requests of one lane.

    Attributes:
        road: Sends its requests.
        bucket: Limits their rate.
        patience: See `PATIENCE`.
        waiting: The waiting requests, the first to send first.
        under_way: How many were sent and have no response yet.
        paused_until: No request is sent before this time.
    """

    road: Road
    bucket: Bucket
    patience: float
    waiting: deque[_Pending] = attrs.field(factory=deque)
    under_way: int = 0
    paused_until: float = 0.0


class Lanes:
    """Sends requests.

    Requests with the same key are sent one after the other, in the order in which they
    came. A bind replaces the unsent requests with its key.

    Args:
        roads: Lane -> the connections that send its requests.
        respond: Receives the responses.
        now: Returns the seconds of a monotonic clock.
        may_write: Called immediately before a write is sent.
        bucket: Limits the rate of requests, except events.
        event_bucket: Limits the rate of events.
        jitter: Returns a random number between 0 and 1.
    """

    def __init__(
        self,
        roads: Mapping[Lane, Road],
        respond: Callable[[Response], None],
        *,
        now: Callable[[], float],
        may_write: Callable[[], bool],
        bucket: Bucket,
        event_bucket: Bucket,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._respond = respond
        self._now = now
        self._may_write = may_write
        self._jitter = jitter
        self._queues = {
            lane: _Queue(
                roads[lane], event_bucket if lane is Lane.EVENT else bucket, patience
            )
            for lane, patience in PATIENCE.items()
        }
        self._later: list[tuple[float, int, _Pending]] = []
        self._numbers = itertools.count()
        self._by_key: dict[str, deque[_Pending]] = {}
        self._ends: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether all requests have been answered."""
        queues = self._queues.values()
        return not (self._later or any(q.waiting or q.under_way for q in queues))

    def is_short_of(self, lane: Lane) -> bool:
        """Return whether a lane may soon be idle."""
        return len(self._queues[lane].waiting) < _ENOUGH

    def take(self, request: Request) -> None:
        """Queue a request."""
        pending = _Pending(request, self._now())
        queue = self._queues[request.lane]
        if request.key:
            # Requests of one pod are sent one after the other, as those on different
            # connections may overtake each other.
            before = self._by_key.get(request.key)
            if before is not None:
                if request.lane is Lane.BIND:
                    self._supersede(before)
                if before:
                    before.append(pending)
                    return
            self._by_key[request.key] = deque([pending])
        queue.waiting.append(pending)

    def leave(self, seconds: float) -> None:
        """Stop sending after some seconds; requests in flight are still answered."""
        self._ends = self._now() + seconds

    def pump(self) -> float | None:
        """Send the requests that can be sent now.

        Returns:
            In how many seconds to call it again; None if only a response makes more
            requests ready.
        """
        now = self._now()
        if self._ends is not None and now >= self._ends:
            self._give_up_all()
        while self._later and self._later[0][0] <= now:
            pending = heapq.heappop(self._later)[2]
            if not pending.is_over:
                self._queues[pending.request.lane].waiting.appendleft(pending)
        due = self._later[0][0] - now if self._later else math.inf
        for queue in self._queues.values():
            if queue.waiting:
                due = min(due, self._pump(queue, now))
        return max(0.0, due) if due < math.inf else None

    def sweep(self) -> None:
        """Close connections that time out or idle; to be called every second."""
        for queue in self._queues.values():
            queue.road.sweep()

    def _pump(self, queue: _Queue, now: float) -> float:
        while queue.waiting:
            pending = queue.waiting[0]
            if pending.is_over:
                queue.waiting.popleft()
                continue
            if queue.paused_until > now:
                return queue.paused_until - now
            if pending.request.lane is Lane.EVENT and self._must_yield(queue):
                return math.inf
            if not queue.road.is_free(len(queue.waiting)):
                trouble = queue.road.trouble
                if not trouble or now - pending.since < queue.patience:
                    return _SHORTEST
                queue.waiting.popleft()
                self._not_sent(pending, trouble)
                continue
            pause = queue.bucket.take(now)
            if pause > 0:
                return pause
            queue.waiting.popleft()
            self._send(queue, pending)
        return math.inf

    def _must_yield(self, events: _Queue) -> bool:
        """Return whether an event would take the server's time from waiting binds.

        One event at a time is sent nevertheless.
        """
        return events.under_way > 0 and bool(self._queues[Lane.BIND].waiting)

    def _send(self, queue: _Queue, pending: _Pending) -> None:
        if pending.request.lane is not Lane.READ and not self._may_write():
            self._not_sent(pending, "not sent: this process does not hold the lease")
            return
        pending.is_under_way = True
        pending.sent += 1
        queue.under_way += 1

        def done(outcome: Outcome) -> None:
            queue.under_way -= 1
            pending.is_under_way = False
            if isinstance(outcome, Lost):
                self._lost(queue, pending, outcome)
            else:
                self._replied(queue, pending, outcome)

        queue.road.send(pending.request, done)

    def _replied(self, queue: _Queue, pending: _Pending, reply: Reply) -> None:
        request, code = pending.request, reply.code
        if _OK <= code < _REDIRECT:
            self._answer(
                pending, Response(request.call, code, _answer_body(request, reply))
            )
        elif code == _UNAUTHORIZED and not pending.is_renewed:
            pending.is_renewed = True
            queue.waiting.appendleft(pending)
        elif code == _TOO_MANY and pending.waits < _MOST_WAITS:
            pending.waits += 1
            # The request was not executed, unless a proxy responded wrongly.
            pause = min(_seconds(reply) or 1.0, _LONGEST_WAIT)
            queue.paused_until = max(queue.paused_until, self._now() + pause)
            queue.waiting.appendleft(pending)
        elif code >= _SERVER_ERROR:
            pending.doubts += 1
            if not self._again(pending, _seconds(reply)):
                self._refuse(pending, reply, is_in_doubt=request.method != "GET")
        # An earlier try, whose response was lost, has deleted it.
        elif code == _NOT_FOUND and request.method == "DELETE" and pending.doubts:
            self._answer(pending, Response(request.call, _OK))
        else:
            # A proxy may have sent the bind twice, and the first may have succeeded:
            # the engine reads the pod to find out.
            is_in_doubt = code == _CONFLICT and request.lane is Lane.BIND
            self._refuse(pending, reply, is_in_doubt=is_in_doubt)

    def _lost(self, queue: _Queue, pending: _Pending, lost: Lost) -> None:
        request = pending.request
        if not lost.is_sent:
            queue.waiting.appendleft(pending)
            return
        pending.doubts += 1
        if not self._again(pending, 0.0):
            in_doubt = request.method != "GET"
            self._answer(
                pending, Response(request.call, 0, why=lost.why, is_in_doubt=in_doubt)
            )

    def _again(self, pending: _Pending, seconds: float) -> bool:
        """Repeat a request later, if that is harmless and it is not too old."""
        patience = self._queues[pending.request.lane].patience
        now = self._now()
        if not pending.request.may_repeat or now - pending.since > patience:
            return False
        pause = min(_FIRST_PAUSE * 2 ** (pending.doubts - 1), _LONGEST_PAUSE)
        due = now + max(seconds, pause * (1 + self._jitter()))
        heapq.heappush(self._later, (due, next(self._numbers), pending))
        return True

    def _refuse(self, pending: _Pending, reply: Reply, *, is_in_doubt: bool) -> None:
        answer = Response(
            pending.request.call,
            reply.code,
            reply.body,
            refusal(pending.request, reply),
            is_in_doubt,
        )
        self._answer(pending, answer)

    def _not_sent(self, pending: _Pending, why: str) -> None:
        pending.is_over = True
        in_doubt = pending.doubts > 0 and pending.request.method != "GET"
        answer = Response(pending.request.call, 0, why=why, is_in_doubt=in_doubt)
        self._answer(pending, answer)

    def _answer(self, pending: _Pending, answer: Response) -> None:
        if pending.request.call:
            self._respond(answer)
        same = self._by_key.get(pending.request.key)
        # Identity: which request it is, not what it asks for.
        if not same or same[0] is not pending:
            return
        same.popleft()
        if same:
            self._queues[same[0].request.lane].waiting.append(same[0])
        else:
            del self._by_key[pending.request.key]

    def _supersede(self, before: deque[_Pending]) -> None:
        """Answer the pod's unsent requests as done: its bind makes them obsolete."""
        for pending in [pending for pending in before if not pending.is_under_way]:
            before.remove(pending)
            pending.is_over = True
            if pending.request.call:
                self._respond(Response(pending.request.call, _OK))

    def _give_up_all(self) -> None:
        for queue in self._queues.values():
            waiting, queue.waiting = queue.waiting, deque()
            for pending in waiting:
                if not pending.is_over:
                    self._not_sent(pending, "not sent: this process is about to end")
        later, self._later = self._later, []
        for pending in (pending for _, _, pending in later if not pending.is_over):
            self._not_sent(pending, "not sent: this process is about to end")


def _answer_body(request: Request, reply: Reply) -> bytes:
    return reply.body if request.wants_body else b""


def _seconds(reply: Reply) -> float:
    """Return the seconds of the ``Retry-After`` header; 0 without one."""
    text = reply.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else 0.0
