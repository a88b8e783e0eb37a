"""Leader elections in virtual time: a lease, a network with faults, processes."""

import heapq
import itertools
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from quaymaster.config import LeaderElection
from tests.kit.internals.election import (
    Answer,
    Ask,
    Candidate,
    Clocks,
    ElectionStatus,
    Fence,
    HeldLease,
    Pause,
    Rules,
)
from tests.kit.internals.kubernetes import ApiError

__all__ = ["Contender", "ElectionWorld", "LeaseServer", "Network"]

Tree: TypeAlias = dict[str, Any]

TIMEOUT = 5.0
"""The seconds that a contender waits for a response."""


@attrs.define
class LeaseServer:
    """An API server that has one lease, with optimistic concurrency.

    Attributes:
        lease: The stored lease, or None.
        refuses: The status code of every response; 0 for the normal responses.
        methods: The methods of all requests so far.
    """

    lease: Tree | None = None
    refuses: int = 0
    methods: list[str] = attrs.field(factory=list)
    _versions: "itertools.count[int]" = attrs.field(factory=lambda: itertools.count(7))

    def answer(self, ask: Ask) -> Answer:
        """Answer one request."""
        self.methods.append(ask.method)
        if self.refuses:
            return refusal(self.refuses)
        if ask.method == "GET":
            return self._stored()
        sent = json.loads(ask.body)
        if ask.method == "POST":
            return refusal(409) if self.lease else self.store(sent)
        if self.lease is None:
            return refusal(404)
        version = self.lease["metadata"]["resourceVersion"]
        if sent["metadata"]["resourceVersion"] != version:
            return refusal(409)
        return self.store(sent)

    def store(self, lease: Tree) -> Answer:
        """Store the lease as it is, with a new version."""
        metadata = {**lease["metadata"], "resourceVersion": str(next(self._versions))}
        self.lease = {**lease, "metadata": metadata}
        return self._stored()

    def _stored(self) -> Answer:
        return refusal(404) if self.lease is None else json.dumps(self.lease).encode()

    @property
    def spec(self) -> Tree:
        """The lease's spec, which names its holder."""
        assert self.lease is not None
        spec: Tree = self.lease["spec"]
        return spec


def refusal(code: int) -> ApiError:
    """Return a client's error for a refused request."""
    return ApiError("here", f"{code}", code=code)


@attrs.define
class Network:
    """Faults and delays of the requests of one contender.

    Attributes:
        there: The seconds that a request takes.
        back: The seconds that a response takes.
        loses_requests: Whether requests are lost.
        loses_answers: Whether responses are lost.
    """

    there: float = 0.0
    back: float = 0.0
    loses_requests: bool = False
    loses_answers: bool = False


class ElectionWorld:
    """A server, and contenders for its lease, in virtual time."""

    def __init__(self, settings: LeaderElection | None = None) -> None:
        self.settings = settings or LeaderElection()
        self.server = LeaseServer()
        self.contenders: list[Contender] = []
        self.now = 0.0
        self.after_each: Callable[[], None] = lambda: None
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = itertools.count()

    def start(
        self,
        name: str,
        *,
        ahead: float = 0.0,
        rate: float = 1.0,
        is_alive: bool = True,
    ) -> "Contender":
        """Start a contender whose clocks are ahead, and run faster or slower."""
        contender = Contender(self, name, ahead, rate)
        contender.is_alive = is_alive
        self.contenders.append(contender)
        contender.go_on(None)
        return contender

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call a function after some seconds."""
        heapq.heappush(self._due, (self.now + seconds, next(self._sequence), call))

    def elapse(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            self.now, _, call = heapq.heappop(self._due)
            call()
            self.after_each()
        self.now = end

    def writers(self) -> list[str]:
        """Return the names of the contenders whose fences are open."""
        return [
            contender.name
            for contender in self.contenders
            if contender.fence.may_write()
        ]


class Contender:
    """One process that takes part in the election.

    Attributes:
        network: The faults and delays of its requests.
        is_alive: Whether its work as a leader goes on.
        has_seen_the_lease: Whether it has received a response with the lease.
        is_stopped: Whether the whole process is stopped, as after SIGSTOP.
        has_ended: Whether its election is over.
        started: The leases that it has acquired.
        lost: The reasons for which it has lost a lease.
        statuses: The statuses that were reported for its metrics.
    """

    def __init__(
        self, world: ElectionWorld, name: str, ahead: float, rate: float
    ) -> None:
        self.name, self.network = name, Network()
        self.is_alive, self.is_stopped, self.has_ended = True, False, False
        self.has_seen_the_lease = False
        self.started: list[HeldLease] = []
        self.lost: list[str] = []
        self.statuses: list[ElectionStatus] = []
        self._world, self._rate = world, rate
        candidate = Candidate(
            identity=name,
            on_started=self.started.append,
            on_lost=self.lost.append,
            is_alive=lambda: self.is_alive,
            on_status=self.statuses.append,
        )
        clocks = Clocks(
            steady=lambda: 1e6 + ahead + world.now * rate,
            wall=lambda: 1.7e9 + ahead * 1e3 + world.now * rate,
            jitter=lambda: 0.5,
        )
        self._rules = Rules(world.settings, candidate, clocks)
        self._steps = self._rules.run()
        self._turn = 0
        self._waits_for: Ask | Pause | None = None
        self._missed: Answer | None = None

    @property
    def fence(self) -> Fence:
        """The fence, which says whether it may write."""
        return self._rules.fence

    def go_on(self, answer: Answer | None) -> None:
        """Pass the response to the election's rules, and do their next step."""
        if self.has_ended:
            return
        self._turn += 1
        self.has_seen_the_lease |= isinstance(answer, bytes) and answer != b""
        try:
            steps = self._steps
            step = next(steps) if answer is None else steps.send(answer)
        except StopIteration:
            self.has_ended = True
            return
        self._waits_for = step
        if isinstance(step, Pause):
            self._answered(step.seconds / self._rate, b"")
        else:
            self._answered(TIMEOUT / self._rate, ApiError("here", "no answer"))
            self._send(step)

    def stand_still(self) -> None:
        """Stop the process, as SIGSTOP does."""
        self.is_stopped = True

    def wake(self) -> None:
        """Continue the process, as SIGCONT does."""
        self.is_stopped = False
        missed, self._missed = self._missed, None
        if missed is not None:
            self.go_on(missed)

    def kill(self) -> None:
        """Kill the process, as SIGKILL does."""
        self.has_ended = True
        self._world.contenders.remove(self)

    def stop(self) -> None:
        """End the election cleanly."""
        self._rules.stop()
        if isinstance(self._waits_for, Pause) and not self.is_stopped:
            self.go_on(b"")

    def _send(self, ask: Ask) -> None:
        network, world, turn = self.network, self._world, self._turn

        def arrive() -> None:
            answer = world.server.answer(ask)
            if not network.loses_answers:
                self._answered(network.back, answer, turn)

        if not network.loses_requests:
            world.call_later(network.there, arrive)

    def _answered(
        self, seconds: float, answer: Answer, turn: int | None = None
    ) -> None:
        """Deliver a response after some seconds, unless one has come before."""
        turn = self._turn if turn is None else turn

        def come() -> None:
            if turn != self._turn or self._missed is not None:
                return
            if self.is_stopped:
                self._missed = answer
            else:
                self.go_on(answer)

        self._world.call_later(seconds, come)
