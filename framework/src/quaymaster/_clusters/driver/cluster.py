"""The cluster port over an API server."""

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.wire import decode
from quaymaster._clusters.driver import requests
from quaymaster._clusters.driver.followed import Followed
from quaymaster._clusters.driver.frames import (
    Alive,
    Answered,
    Asked,
    Begin,
    Counted,
    Follow,
    Lane,
    Leads,
    LeaseLost,
    LeaseSeen,
    Leave,
    Runs,
    ToEngine,
)
from quaymaster._clusters.driver.lease_health import LeaseHealth
from quaymaster._clusters.driver.life import seconds_between_signs
from quaymaster._clusters.driver.link import Link
from quaymaster._clusters.driver.refusals import error_of
from quaymaster._clusters.driver.updating import updated_tree
from quaymaster._clusters.driver.waiting import Ask, WaitFor, never_in_a_task
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    ApiError,
    ConflictError,
    EventNote,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    Watch,
)

__all__ = ["KubernetesCluster"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SECONDS_OF_BEAT: Final = 2.0
_SECONDS_TO_LEAVE: Final = 5.0  # for answers, and for the lease to be given back
_SECONDS_TO_HOLD_UP: Final = 5.0  # everything, for a call outside of a task


class KubernetesCluster:
    """A cluster behind an API server; see `quaymaster.cluster.Cluster`.

    Everything is lost when the process for input and output ends, whatever ended it:
    nothing more is told, and no call is made any more. There is no second one. The
    scheduler is to end then, and to be started again; it reads from the cluster what
    became of calls that were under way.

    Args:
        begin: How to reach it.
        wait_for: How a call waits that is made in a task of the engine's executor.

    Attributes:
        lease: How the leader election stands; None if nothing is known of it.
        counted: The requests so far; None if nothing is known of them.
    """

    def __init__(self, begin: Begin, wait_for: WaitFor = never_in_a_task) -> None:
        self._wait_for = wait_for
        self._followed: dict[type[ApiObject], Followed[Any]] = {}
        self._by_number: list[Followed[Any]] = []
        self._waiting: dict[int, Callable[[Answered], None]] = {}
        self._calls = itertools.count(1)
        self._end = ""
        self._at_end: Callable[[], None] | None = None
        self._engine = threading.main_thread()
        self._leads = threading.Event()
        self._may_go_on = threading.Event()
        if begin.election is None:
            self._begin_to_lead()
        self._gone = threading.Event()
        self.lease: LeaseSeen | None = None
        self.counted: Counted | None = None
        self._lease_health = LeaseHealth(begin.election)
        self._link = Link(begin, self._receive, self._ended)
        if begin.election is not None:
            pause = seconds_between_signs(begin.election.renew_seconds)
            threading.Thread(
                target=self._say_that_it_runs, args=(pause,), name="life", daemon=True
            ).start()

    def follow(self, kind: type[ApiObject]) -> None:
        """Begin to list and watch a kind, ahead of `list`."""
        if kind in self._followed:
            return
        followed = self._followed[kind] = Followed[Any](kind)
        self._by_number.append(followed)
        number = len(self._by_number) - 1
        self._link.send(Follow(number, followed.path, are_pods=kind is Pod))

    def lead(self) -> None:
        """Return once writes may leave: at once without an election.

        What is listed from then on is newer than the lease. To be called ahead of
        `list`.
        """
        self._may_go_on.wait()

    def stop_waiting(self) -> None:
        """Have `lead` return now, and for ever; from any thread."""
        self._may_go_on.set()

    @property
    def is_leading(self) -> bool:
        """Whether writes may leave, as far as is known here."""
        return self._leads.is_set() and not self._end

    def attend(self, clock: Clock) -> None:
        """Let the timers of the engine's clock, on this thread, serve the connection.

        The other process is told now and then that the engine takes its turns, and what
        the engine asks for in a few turns leaves together.
        """
        self._engine = threading.current_thread()
        self._link.gather(clock)

        def beat() -> None:
            self._link.send(Alive())
            clock.call_later(_SECONDS_OF_BEAT, beat, background=True)

        clock.call_later(_SECONDS_OF_BEAT, beat, background=True)

    def close(self, seconds: float = 0.0) -> None:
        """End the other process; calls that wait are left in doubt.

        Args:
            seconds: For how long requests may still leave, such as events that wait;
                those under way are answered, and the lease is given back. 0 ends
                everything at once.
        """
        if seconds > 0 and not self._end:
            self._link.send(Leave(seconds))
            self._link.flush()
            self._gone.wait(seconds + _SECONDS_TO_LEAVE)
        self._link.close()

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """See `Cluster.list`."""
        if self._end:
            raise ApiError(self._end)
        self.follow(kind)
        return self._followed[kind].listed()

    def watch(
        self, kind: type[ObjT], _resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        """See `Cluster.watch`."""
        return self._followed[kind].watch(notify)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """See `Cluster.get`."""
        return decode(self._asked(requests.get(kind, key)), kind)

    def create(self, obj: ObjT) -> ObjT:
        """See `Cluster.create`."""
        return decode(self._asked(requests.create(obj)), type(obj))

    def update(self, obj: ObjT) -> ObjT:
        """See `Cluster.update`."""
        kind, key = type(obj), obj.key
        # Objects here have the fields that scheduling reads; the others must stay.
        whole = msgspec.json.decode(self._asked(requests.get(kind, key)))
        updated_tree(whole, obj)
        return decode(self._asked(requests.put(kind, key, whole)), kind)

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """See `Cluster.delete`."""
        self._asked(requests.delete(kind, key, uid, grace_period_seconds))

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """See `Cluster.bind`."""
        self._asked(requests.bind(pod, node_name, annotations))

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """See `Cluster.patch_pod_status`."""
        try:
            self._asked(requests.patch_pod_status(pod, patch))
        except ConflictError as error:  # no version is asked for: it is another pod
            raise NotFoundError(str(error)) from error

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """See `Cluster.patch_status`."""
        return decode(self._asked(requests.patch_status(obj, changes)), type(obj))

    def record(self, note: EventNote) -> None:
        """See `Cluster.record`."""
        self._link.send(requests.record(note))

    def post(self, path: str, body: bytes) -> bytes:
        """Send a review to the server, and return its answer.

        Raises:
            ApiError: The server cannot be asked, or refuses.
        """
        return self._asked(Asked(0, Lane.READ, "POST", path, body))

    @property
    def followed(self) -> Sequence[Followed[Any]]:
        """The resources that are followed, and what is wrong with them."""
        return tuple(self._by_number)

    @property
    def troubles(self) -> Mapping[str, str]:
        """Kind -> why it cannot be followed right now, for those of which that is so.

        May be read from any thread.
        """
        return {
            followed.resource.kind: trouble
            for followed in tuple(self._by_number)
            if (trouble := followed.trouble)
        }

    @property
    def io_process(self) -> int:
        """The id of the process for input and output."""
        return self._link.process

    def read(self, target: str) -> bytes:
        """Read a resource as it is on the server, past what is followed.

        Args:
            target: The path with its query.

        Raises:
            ApiError: The server cannot be asked, or refuses.
        """
        return self._asked(Asked(0, Lane.READ, "GET", target))

    @property
    def end(self) -> str:
        """Why nothing can be done any more; empty while all is well.

        The process for input and output is gone, or has lost the lease.
        """
        return self._end

    def at_end(self, call: Callable[[], None]) -> None:
        """Have a call made, on any thread, once nothing can be done any more."""
        self._at_end = call
        if self._end:
            call()

    def _asked(self, asked: Asked) -> bytes:
        """Ask, wait for the answer, and return its content."""
        asked.call = next(self._calls)

        def ask(take: Callable[[Answered], None]) -> None:
            self._waiting[asked.call] = take
            self._link.send(asked)
            if self._end:  # it may have come before there was anything to answer
                self._receive(Answered(asked.call, 0, why=self._end, is_in_doubt=True))

        answer = self._wait_for(ask)
        if answer is None:
            answer = self._waited(ask)
        if not answer.why:
            return answer.body
        raise error_of(answer)

    def _waited(self, ask: Ask) -> Answered:
        """Ask, and block this thread until the answer is there.

        The engine's own thread, on which only plugins ask outside of a task, gives up
        soon.
        """
        answers: list[Answered] = []
        there = threading.Event()

        def take(answer: Answered) -> None:
            answers.append(answer)
            there.set()

        ask(take)
        self._link.flush()  # no timer is due while this thread waits
        # Identity: there is one such thread.
        is_engine = threading.current_thread() is self._engine
        if there.wait(_SECONDS_TO_HOLD_UP if is_engine else None):
            return answers[0]
        why = (
            f"no answer in {_SECONDS_TO_HOLD_UP:.0f} seconds, in which nothing went on"
        )
        return Answered(0, 0, why=why, is_in_doubt=True)

    @property
    def lease_problem(self) -> str:
        """What is wrong with the lease that is held; empty if nothing, or none is."""
        return self._lease_health.problem() if self.is_leading else ""

    def _say_that_it_runs(self, pause: float) -> None:
        """Keep the lease through long turns, but not while all stands still."""
        while not self._gone.wait(pause):
            self._link.send(Runs())

    def _receive(self, message: ToEngine) -> None:
        self._lease_health.heard()
        if isinstance(message, Answered):
            take = self._waiting.pop(message.call, None)
            if take is not None:
                take(message)
        elif isinstance(message, Leads):
            self._begin_to_lead()
        elif isinstance(message, Counted):
            self.counted = message
        elif isinstance(message, LeaseSeen):
            self.lease = message
        elif isinstance(message, LeaseLost):
            self._stop(f"the lease was lost: {message.why}")
        else:
            self._by_number[message.resource].receive(message)

    def _ended(self, why: str) -> None:
        self._gone.set()
        self._stop(why)

    def _begin_to_lead(self) -> None:
        self._leads.set()
        self._may_go_on.set()

    def _stop(self, why: str) -> None:
        """Nothing more can be done: have the engine end."""
        self._end = self._end or why
        self._begin_to_lead()
        for call in list(self._waiting):
            self._receive(Answered(call, 0, why=why, is_in_doubt=True))
        if self._at_end is not None:
            self._at_end()
