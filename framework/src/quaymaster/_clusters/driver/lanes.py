"""Lanes: requests that share connections and limits, so that others do not wait.

What is decided here: which request leaves next, what is sent again, and what is in
doubt. It runs on one thread, and waits for nothing.
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
from quaymaster._clusters.driver.frames import Answered, Asked, Lane
from quaymaster._clusters.driver.refusals import refusal
from quaymaster._clusters.kubernetes.http1 import Reply

__all__ = ["Lanes", "Road"]

PATIENCE: Final[Mapping[Lane, float]] = {
    Lane.READ: 5.0,
    Lane.BIND: 10.0,
    Lane.STATUS: 30.0,
    Lane.EVENT: 30.0,
}
"""For how many seconds requests wait for a server that cannot be reached, or are
repeated where that does no harm. In the order in which lanes are served."""

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
_ENOUGH: Final = 8  # requests that wait: a lane is not idle before there are more


class Road(Protocol):
    """How the requests of a lane leave, see `Connections`."""

    @property
    def trouble(self) -> str:
        """Why the server cannot be reached right now; empty if it can."""

    def is_free(self, waiting: int) -> bool:
        """Whether one can be sent now; if not, see to it that it can be soon."""

    def send(self, asked: Asked, done: Callable[[Outcome], None]) -> None:
        """Send one."""

    def sweep(self) -> None:
        """Give up what has been waited for long enough."""


@attrs.define(eq=False)
class _Waiting:
    """A request on its way.

    Attributes:
        asked: The request.
        since: When it was asked for.
        sent: How often it was sent.
        doubts: How often it was sent and may have taken effect.
        waits: How often the server has asked to wait.
        is_renewed: Whether it is tried with other credentials.
        is_under_way: Whether it was sent, and is not answered yet.
        is_over: Whether it has been answered without being sent.
    """

    asked: Asked
    since: float
    sent: int = 0
    doubts: int = 0
    waits: int = 0
    is_renewed: bool = False
    is_under_way: bool = False
    is_over: bool = False


@attrs.define(eq=False)
class _Queue:
    """What waits in one lane.

    Attributes:
        road: How its requests leave.
        bucket: How many may leave.
        patience: See `PATIENCE`.
        waiting: What waits, the first one first.
        under_way: How many were sent and are not answered yet.
        paused_until: Nothing is sent before this time.
    """

    road: Road
    bucket: Bucket
    patience: float
    waiting: deque[_Waiting] = attrs.field(factory=deque)
    under_way: int = 0
    paused_until: float = 0.0


class Lanes:
    """Makes requests.

    Those with the same key leave one after the other, in the order in which they were
    asked for; a bind takes the place of those with its key that have not left.

    Args:
        roads: How the requests of each lane leave.
        tell: Takes the answers.
        now: Seconds, by a clock that nobody sets.
        may_write: Asked right before a write leaves.
        bucket: How many requests may leave in some time, but for events.
        event_bucket: The same for events.
    """

    def __init__(
        self,
        roads: Mapping[Lane, Road],
        tell: Callable[[Answered], None],
        *,
        now: Callable[[], float],
        may_write: Callable[[], bool],
        bucket: Bucket,
        event_bucket: Bucket,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._tell = tell
        self._now = now
        self._may_write = may_write
        self._jitter = jitter
        self._queues = {
            lane: _Queue(
                roads[lane], event_bucket if lane is Lane.EVENT else bucket, patience
            )
            for lane, patience in PATIENCE.items()
        }
        self._later: list[tuple[float, int, _Waiting]] = []
        self._numbers = itertools.count()
        self._by_key: dict[str, deque[_Waiting]] = {}
        self._ends: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether everything has been answered."""
        queues = self._queues.values()
        return not (self._later or any(q.waiting or q.under_way for q in queues))

    def is_short_of(self, lane: Lane) -> bool:
        """Whether a lane could do with more requests."""
        return len(self._queues[lane].waiting) < _ENOUGH

    def take(self, asked: Asked) -> None:
        """Make a request once it is its turn."""
        one = _Waiting(asked, self._now())
        queue = self._queues[asked.lane]
        if asked.key:
            before = self._by_key.get(asked.key)
            if before is not None:
                if asked.lane is Lane.BIND:
                    self._supersede(before)
                if before:
                    before.append(one)
                    return
            self._by_key[asked.key] = deque([one])
        queue.waiting.append(one)

    def leave(self, seconds: float) -> None:
        """Send nothing any more after some time; what is under way is answered."""
        self._ends = self._now() + seconds

    def pump(self) -> float | None:
        """Send what can leave now.

        Returns:
            In how many seconds something is due; None if nothing is before an answer
            comes.
        """
        now = self._now()
        if self._ends is not None and now >= self._ends:
            self._give_up_all()
        while self._later and self._later[0][0] <= now:
            one = heapq.heappop(self._later)[2]
            if not one.is_over:
                self._queues[one.asked.lane].waiting.appendleft(one)
        due = self._later[0][0] - now if self._later else math.inf
        for queue in self._queues.values():
            if queue.waiting:
                due = min(due, self._pump(queue, now))
        return max(0.0, due) if due < math.inf else None

    def sweep(self) -> None:
        """Give up what has been waited for long enough; to be called now and then."""
        for queue in self._queues.values():
            queue.road.sweep()

    def _pump(self, queue: _Queue, now: float) -> float:
        while queue.waiting:
            one = queue.waiting[0]
            if one.is_over:
                queue.waiting.popleft()
                continue
            if queue.paused_until > now:
                return queue.paused_until - now
            if one.asked.lane is Lane.EVENT and self._must_yield(queue):
                return math.inf
            if not queue.road.is_free(len(queue.waiting)):
                trouble = queue.road.trouble
                if not trouble or now - one.since < queue.patience:
                    return _SHORTEST
                queue.waiting.popleft()
                self._not_sent(one, trouble)
                continue
            pause = queue.bucket.take(now)
            if pause > 0:
                return pause
            queue.waiting.popleft()
            self._send(queue, one)
        return math.inf

    def _must_yield(self, events: _Queue) -> bool:
        """Whether another event would take the server's time from binds that wait.

        One at a time leaves all the same.
        """
        return events.under_way > 0 and bool(self._queues[Lane.BIND].waiting)

    def _send(self, queue: _Queue, one: _Waiting) -> None:
        if one.asked.lane is not Lane.READ and not self._may_write():
            self._not_sent(one, "not sent: this process does not hold the lease")
            return
        one.is_under_way = True
        one.sent += 1
        queue.under_way += 1

        def done(outcome: Outcome) -> None:
            queue.under_way -= 1
            one.is_under_way = False
            if isinstance(outcome, Lost):
                self._lost(queue, one, outcome)
            else:
                self._replied(queue, one, outcome)

        queue.road.send(one.asked, done)

    def _replied(self, queue: _Queue, one: _Waiting, reply: Reply) -> None:
        asked, code = one.asked, reply.code
        if _OK <= code < _REDIRECT:
            self._answer(one, Answered(asked.call, code, _wanted(asked, reply)))
        elif code == _UNAUTHORIZED and not one.is_renewed:
            one.is_renewed = True
            queue.waiting.appendleft(one)
        elif code == _TOO_MANY and one.waits < _MOST_WAITS:
            one.waits += 1
            # It says that it did not take the request; who is between may be wrong.
            pause = min(_seconds(reply) or 1.0, _LONGEST_WAIT)
            queue.paused_until = max(queue.paused_until, self._now() + pause)
            queue.waiting.appendleft(one)
        elif code >= _SERVER_ERROR:
            one.doubts += 1
            if not self._again(one, _seconds(reply)):
                self._refuse(one, reply, is_in_doubt=asked.method != "GET")
        elif code == _NOT_FOUND and asked.method == "DELETE" and one.doubts:
            self._answer(one, Answered(asked.call, _OK))
        else:
            # Twice the same bind: the first may be ours. The pod tells.
            is_in_doubt = code == _CONFLICT and asked.lane is Lane.BIND
            self._refuse(one, reply, is_in_doubt=is_in_doubt)

    def _lost(self, queue: _Queue, one: _Waiting, lost: Lost) -> None:
        asked = one.asked
        if not lost.is_sent:
            queue.waiting.appendleft(one)
            return
        one.doubts += 1
        if not self._again(one, 0.0):
            in_doubt = asked.method != "GET"
            self._answer(
                one, Answered(asked.call, 0, why=lost.why, is_in_doubt=in_doubt)
            )

    def _again(self, one: _Waiting, seconds: float) -> bool:
        """Have a request repeated later, if that does no harm, and not for ever."""
        patience = self._queues[one.asked.lane].patience
        now = self._now()
        if not one.asked.may_repeat or now - one.since > patience:
            return False
        pause = min(_FIRST_PAUSE * 2 ** (one.doubts - 1), _LONGEST_PAUSE)
        due = now + max(seconds, pause * (1 + self._jitter()))
        heapq.heappush(self._later, (due, next(self._numbers), one))
        return True

    def _refuse(self, one: _Waiting, reply: Reply, *, is_in_doubt: bool) -> None:
        answer = Answered(
            one.asked.call,
            reply.code,
            reply.body,
            refusal(one.asked, reply),
            is_in_doubt,
        )
        self._answer(one, answer)

    def _not_sent(self, one: _Waiting, why: str) -> None:
        one.is_over = True
        in_doubt = one.doubts > 0 and one.asked.method != "GET"
        answer = Answered(one.asked.call, 0, why=why, is_in_doubt=in_doubt)
        self._answer(one, answer)

    def _answer(self, one: _Waiting, answer: Answered) -> None:
        if one.asked.call:
            self._tell(answer)
        same = self._by_key.get(one.asked.key)
        # Identity: which request it is, not what it asks for.
        if not same or same[0] is not one:
            return
        same.popleft()
        if same:
            self._queues[same[0].asked.lane].waiting.append(same[0])
        else:
            del self._by_key[one.asked.key]

    def _supersede(self, before: deque[_Waiting]) -> None:
        """Answer what has not left: the pod gets a node, and all it told is past."""
        for one in [one for one in before if not one.is_under_way]:
            before.remove(one)
            one.is_over = True
            if one.asked.call:
                self._tell(Answered(one.asked.call, _OK))

    def _give_up_all(self) -> None:
        for queue in self._queues.values():
            waiting, queue.waiting = queue.waiting, deque()
            for one in waiting:
                if not one.is_over:
                    self._not_sent(one, "not sent: this process is about to end")
        later, self._later = self._later, []
        for one in (one for _, _, one in later if not one.is_over):
            self._not_sent(one, "not sent: this process is about to end")


def _wanted(asked: Asked, reply: Reply) -> bytes:
    return reply.body if asked.wants_body else b""


def _seconds(reply: Reply) -> float:
    """How long the server wants to be left alone; 0 if it does not say."""
    text = reply.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else 0.0
