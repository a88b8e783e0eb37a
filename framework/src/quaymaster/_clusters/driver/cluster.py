"""The cluster port over an API server."""

import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.wire import decode
from quaymaster._clusters.driver import requests
from quaymaster._clusters.driver.engine_watch import EngineWatch
from quaymaster._clusters.driver.followed import Followed
from quaymaster._clusters.driver.frames import (
    Alive,
    Begin,
    Counted,
    Finished,
    Follow,
    Lane,
    Leads,
    LeaseLost,
    LeaseSeen,
    Leave,
    Request,
    Response,
    Runs,
    Stopping,
    Suspect,
    ToEngine,
)
from quaymaster._clusters.driver.lease_health import LeaseHealth
from quaymaster._clusters.driver.link import Link
from quaymaster._clusters.driver.liveness import seconds_between_signs
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

    If the I/O process ends for any reason, no more changes arrive and no more calls are
    sent. It is not started again: the scheduler must end and be restarted. The next
    start reads the outcome of the calls in flight from the cluster.

    Args:
        begin: How to reach the API server.
        wait_for: Waits for a response inside a task of the engine's executor.
        is_watched: Whether the I/O process watches this process, and ends it if it
            must stop but does not.

    Attributes:
        engine_watch: What the I/O process sees of this process, if it is watched.
        suspects: The pods that stopped earlier leaders, once this one leads.
        lease: The state of the leader election; None before it is reported.
        counted: The counts of requests; None before they are reported.
    """

    def __init__(
        self,
        begin: Begin,
        wait_for: WaitFor = never_in_a_task,
        *,
        is_watched: bool = False,
    ) -> None:
        self._wait_for = wait_for
        self._followed: dict[type[ApiObject], Followed[Any]] = {}
        self._by_number: list[Followed[Any]] = []
        self._waiting: dict[int, Callable[[Response], None]] = {}
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
        self.suspects: Sequence[Suspect] = ()
        self.engine_watch = EngineWatch(self._attempt_finished) if is_watched else None
        inherited: Sequence[int] = ()
        if self.engine_watch is not None:
            begin.watched, inherited = (
                self.engine_watch.message,
                self.engine_watch.inherited,
            )
        self._link = Link(begin, self._receive, self._ended, inherited=inherited)
        if begin.election is not None or is_watched:
            election = begin.election
            renew = math.inf if election is None else election.renew_seconds
            pause = seconds_between_signs(renew)
            threading.Thread(
                target=self._send_signs, args=(pause,), name="signs", daemon=True
            ).start()

    def follow(self, kind: type[ApiObject]) -> None:
        """Begin to list and watch a kind, before `list` is called."""
        if kind in self._followed:
            return
        followed = self._followed[kind] = Followed[Any](kind)
        self._by_number.append(followed)
        number = len(self._by_number) - 1
        self._link.send(Follow(number, followed.path, are_pods=kind is Pod))

    def lead(self) -> None:
        """Wait until writes may be sent; without an election, return at once.

        Call it before `list`: lists that begin later are newer than the lease.
        """
        self._may_go_on.wait()

    def stop_waiting(self) -> None:
        """Make `lead` return now and in future; any thread may call it."""
        self._may_go_on.set()

    @property
    def is_leading(self) -> bool:
        """Whether writes may be sent, according to the messages received so far."""
        return self._leads.is_set() and not self._end

    def attend(self, clock: Clock) -> None:
        """Use timers of the engine's clock, on this thread, for the connection.

        They report the engine's turns to the I/O process every two seconds, and send
        the requests of one millisecond together.
        """
        self._engine = threading.current_thread()
        self._link.gather(clock)

        def beat() -> None:
            self._link.send(Alive())
            clock.call_later(_SECONDS_OF_BEAT, beat, background=True)

        clock.call_later(_SECONDS_OF_BEAT, beat, background=True)

    def close(self, seconds: float = 0.0) -> None:
        """End the I/O process; the outcome of waiting calls stays in doubt.

        Args:
            seconds: For how long waiting requests, such as events, may still be sent.
                Requests in flight are answered then, and the lease is released. 0 ends
                the process at once.
        """
        if seconds > 0 and not self._end:
            self._link.send(Leave(seconds))
            self._link.flush()
            self._gone.wait(seconds + _SECONDS_TO_LEAVE)
        self._link.close()
        if self.engine_watch is not None:
            self.engine_watch.close()

    def note_signals(self, numbers: bytes) -> None:
        """Note signals of this process; any thread may call it.

        If they request it to stop, the I/O process ends it after the grace period.
        """
        if EngineWatch.requests_stop(numbers):
            self._link.send(Stopping())

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
        return decode(self._send_request(requests.get(kind, key)), kind)

    def create(self, obj: ObjT) -> ObjT:
        """See `Cluster.create`."""
        return decode(self._send_request(requests.create(obj)), type(obj))

    def update(self, obj: ObjT) -> ObjT:
        """See `Cluster.update`."""
        kind, key = type(obj), obj.key
        # `obj` has only the fields that scheduling reads; the others must stay.
        whole = msgspec.json.decode(self._send_request(requests.get(kind, key)))
        updated_tree(whole, obj)
        return decode(self._send_request(requests.put(kind, key, whole)), kind)

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """See `Cluster.delete`."""
        self._send_request(requests.delete(kind, key, uid, grace_period_seconds))

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """See `Cluster.bind`."""
        self._send_request(requests.bind(pod, node_name, annotations))

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """See `Cluster.patch_pod_status`."""
        try:
            self._send_request(requests.patch_pod_status(pod, patch))
        except ConflictError as error:  # without a version, only another uid conflicts
            raise NotFoundError(str(error)) from error

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """See `Cluster.patch_status`."""
        return decode(
            self._send_request(requests.patch_status(obj, changes)), type(obj)
        )

    def record(self, note: EventNote) -> None:
        """See `Cluster.record`."""
        self._link.send(requests.record(note))

    def post(self, path: str, body: bytes) -> bytes:
        """Send a review to the server, and return its response.

        Raises:
            ApiError: The server cannot be reached, or refuses.
        """
        return self._send_request(Request(0, Lane.READ, "POST", path, body))

    @property
    def followed(self) -> Sequence[Followed[Any]]:
        """The followed resources, each with its trouble, if any."""
        return tuple(self._by_number)

    @property
    def troubles(self) -> Mapping[str, str]:
        """Kind -> why it cannot be followed right now; other kinds are left out.

        Any thread may read it.
        """
        return {
            followed.resource.kind: trouble
            for followed in tuple(self._by_number)
            if (trouble := followed.trouble)
        }

    @property
    def io_process(self) -> int:
        """The id of the I/O process."""
        return self._link.process

    def read(self, target: str) -> bytes:
        """Read the current version of a resource from the server.

        Args:
            target: The path with its query.

        Raises:
            ApiError: The server cannot be reached, or refuses.
        """
        return self._send_request(Request(0, Lane.READ, "GET", target))

    @property
    def end(self) -> str:
        """Why no more calls can be sent; empty while they can.

        The I/O process has ended, or it has lost the lease.
        """
        return self._end

    def at_end(self, call: Callable[[], None]) -> None:
        """Call a function, on any thread, once no more calls can be sent."""
        self._at_end = call
        if self._end:
            call()

    def _send_request(self, request: Request) -> bytes:
        """Send a request, wait for its response, and return the content."""
        request.call = next(self._calls)

        def ask(take: Callable[[Response], None]) -> None:
            self._waiting[request.call] = take
            self._link.send(request)
            if self._end:  # the end may have come before `take` was registered
                self._receive(
                    Response(request.call, 0, why=self._end, is_in_doubt=True)
                )

        answer = self._wait_for(ask)
        if answer is None:
            answer = self._blocked(ask)
        if not answer.why:
            return answer.body
        raise error_of(answer)

    def _blocked(self, ask: Ask) -> Response:
        """Send a request, and block this thread until the response arrives.

        On the engine's thread, where only plugins do this outside of a task, it times
        out after five seconds.
        """
        answers: list[Response] = []
        there = threading.Event()

        def take(answer: Response) -> None:
            answers.append(answer)
            there.set()

        ask(take)
        self._link.flush()  # no timer is due while this thread waits
        # Identity: the engine has one thread.
        is_engine = threading.current_thread() is self._engine
        if there.wait(_SECONDS_TO_HOLD_UP if is_engine else None):
            return answers[0]
        why = (
            f"no response in {_SECONDS_TO_HOLD_UP:.0f} seconds, during which the "
            "scheduler was blocked"
        )
        return Response(0, 0, why=why, is_in_doubt=True)

    @property
    def lease_problem(self) -> str:
        """What is wrong with the lease; empty if it is renewed, or is not held."""
        return self._lease_health.problem() if self.is_leading else ""

    def _send_signs(self, pause: float) -> None:
        """Send signs of life, which keep the lease through long turns."""
        while not self._gone.wait(pause):
            self._link.send(Runs())

    def _receive(self, message: ToEngine) -> None:
        self._lease_health.note_message()
        if isinstance(message, Response):
            take = self._waiting.pop(message.call, None)
            if take is not None:
                take(message)
        elif isinstance(message, Leads):
            self.suspects = message.suspects
            self._begin_to_lead()
        elif isinstance(message, Counted):
            self.counted = message
        elif isinstance(message, LeaseSeen):
            self.lease = message
        elif isinstance(message, LeaseLost):
            self._stop(f"the lease was lost: {message.why}")
        else:
            self._by_number[message.resource].receive(message)

    def _attempt_finished(self, uid: str) -> None:
        self._link.send(Finished(uid))

    def _ended(self, why: str) -> None:
        self._gone.set()
        self._stop(why)

    def _begin_to_lead(self) -> None:
        self._leads.set()
        self._may_go_on.set()

    def _stop(self, why: str) -> None:
        """Answer all waiting calls as in doubt, and make the engine end."""
        self._end = self._end or why
        self._begin_to_lead()
        for call in list(self._waiting):
            self._receive(Response(call, 0, why=why, is_in_doubt=True))
        if self._at_end is not None:
            self._at_end()
