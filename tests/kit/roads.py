"""Lanes in virtual time; the test answers their requests."""

import json
from collections.abc import Callable, Mapping

import attrs

from tests.kit.internals.outbound import (
    Bucket,
    Lane,
    Lanes,
    Lost,
    Outcome,
    Reply,
    Request,
    Response,
)

__all__ = ["LOST", "LaneRig", "Sent", "refusal_of"]


@attrs.define(eq=False)
class Sent:
    """A request that has left its lane.

    Attributes:
        request: The request.
        answer: Is called with the response.
    """

    request: Request
    answer: Callable[[Outcome], None]


@attrs.define
class _Road:
    room: int
    sent: list[Sent]
    trouble: str = ""
    under_way: int = 0

    def is_free(self, _waiting: int) -> bool:
        return self.under_way < self.room

    def send(self, request: Request, done: Callable[[Outcome], None]) -> None:
        self.under_way += 1

        def answer(outcome: Outcome) -> None:
            self.under_way -= 1
            done(outcome)

        self.sent.append(Sent(request, answer))

    def sweep(self) -> None:
        pass


class LaneRig:
    """Lanes with room for some requests each.

    Attributes:
        now: The time.
        may_write: Whether writes may leave.
        sent: The requests that wait for a response, in the order in which they left.
        answers: The responses, in their order.
    """

    def __init__(self, *, room: int = 10, qps: float = 0.0, burst: int = 1) -> None:
        self.now = 100.0
        self.may_write = True
        self.sent: list[Sent] = []
        self.answers: list[Response] = []
        self._roads = {lane: _Road(room, self.sent) for lane in Lane}
        self._calls = 0
        self.lanes = Lanes(
            self._roads,
            self.answers.append,
            now=lambda: self.now,
            may_write=lambda: self.may_write,
            bucket=Bucket(qps, burst),
            event_bucket=Bucket(qps, burst),
            jitter=lambda: 0.0,
        )

    def ask(
        self,
        lane: Lane,
        method: str = "POST",
        *,
        body: str = "",
        key: str = "",
        may_repeat: bool = False,
    ) -> int:
        """Send a request, and return its number, which the response has, too."""
        self._calls += 1
        request = Request(
            self._calls,
            lane,
            method,
            f"/{lane}/{self._calls}",
            body.encode(),
            key=key,
            may_repeat=may_repeat,
        )
        self.lanes.take(request)
        self.lanes.pump()
        return self._calls

    @property
    def targets(self) -> list[str]:
        """The targets of the requests that wait for a response."""
        return [sent.request.target.lstrip("/") for sent in self.sent]

    def answer(self, outcome: Outcome) -> None:
        """Answer the oldest request."""
        self.sent.pop(0).answer(outcome)
        self.lanes.pump()

    def cut_off(self, why: str) -> None:
        """Let no more requests leave, because the server cannot be reached."""
        for road in self._roads.values():
            road.room, road.trouble = 0, why

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.lanes.pump()

    @property
    def last(self) -> Response:
        """The last response."""
        return self.answers[-1]


def refusal_of(
    code: int,
    reason: str = "",
    message: str = "",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Return a response by which the server refuses a request."""
    status = {"kind": "Status", "reason": reason, "message": message, "code": code}
    return Reply(code, json.dumps(status).encode(), headers or {})


LOST = Lost("the connection was closed before a response arrived", is_sent=True)
