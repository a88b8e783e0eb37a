"""A cluster whose calls fail at random, by a seed.

`FaultyCluster` wraps another cluster, behind the same port. It simulates faults of
networks and API servers: it loses or delays answers, rejects calls, breaks watches and
returns old objects.
"""

import contextlib
import enum
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.slow_executor import SlowExecutor
from quaymaster._core.binding.executor import Post
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    ApiError,
    Cluster,
    ConflictError,
    EventNote,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    ResourceExpiredError,
    UnknownOutcomeError,
    Watch,
    WatchEvent,
)

__all__ = ["INJECTED", "Fault", "FaultyCluster"]

INJECTED: Final = "injected: "
"""The texts of all injected errors begin like this."""

ObjT = TypeVar("ObjT", bound=ApiObject)
T = TypeVar("T")


class Fault(enum.Enum):
    """The faults of a cluster, for ``SchedulerHarness(faults={Fault.ERROR: 0.1})``.

    The number is the probability each time that the fault is possible.
    """

    ERROR = "error"
    """A call fails and does nothing."""

    CONFLICT = "conflict"
    """An update, a deletion or a bind is rejected as if the object were another one."""

    LOST_CALL = "lost call"
    """A write does nothing, and its caller gets no answer."""

    LOST_ANSWER = "lost answer"
    """A write takes effect, and its caller gets no answer."""

    SLOW_CALL = "slow call"
    """A call outside of the scheduling cycle (in PreBind, Bind, evictions, changes of a
    pod's status) begins later; everything else continues meanwhile."""

    SLOW_ANSWER = "slow answer"
    """A call outside of the scheduling cycle takes effect, and its answer comes later;
    everything else continues meanwhile."""

    STALE_LIST = "stale list"
    """A list returns what the last list of that kind returned."""

    BROKEN_WATCH = "broken watch"
    """A watch ends; it can be resumed from the last version seen."""

    EXPIRED_WATCH = "expired watch"
    """A watch ends and cannot be resumed: changes were lost."""

    DELAYED_EVENTS = "delayed events"
    """The events of a watch come later, and so after younger events of other kinds;
    events of one kind stay in order."""

    REPEATED_EVENT = "repeated event"
    """A watch returns one event twice."""

    DEAD_NODE = "dead node"
    """A node is deleted at the moment when a pod is bound to it; the bind fails."""


class FaultyCluster:
    """Passes calls on to a cluster, with faults; implements `quaymaster.cluster`.

    Every fault is drawn from one generator, in the order of the calls, so the same
    calls meet the same faults. `get` may fail, but never returns an old object: an API
    server reads it from its storage. Events of a watch may come late or twice, but in
    order; there is no order between kinds, since each watch has its own delay. Calls
    are slow only for a scheduler that runs them with `make_executor`, as that of
    `SchedulerHarness` does. It belongs to one thread.

    Args:
        cluster: The cluster behind it.
        clock: Runs the timers of delayed events and calls.
        rates: The probability of each fault, from 0 to 1, each time that it is
            possible; 0 for those not given.
        seed: Decides which calls have faults.
        max_delay_seconds: The longest delay of events.
        max_answer_seconds: The longest delay of a call, and again of its answer.

    Attributes:
        counts: How often each fault has happened.

    Raises:
        ValueError: A rate is not from 0 to 1.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        clock: Clock,
        rates: Mapping[Fault, float],
        seed: int = 0,
        max_delay_seconds: float = 5.0,
        max_answer_seconds: float = 5.0,
    ) -> None:
        self.counts: Counter[Fault] = Counter()
        self._cluster = cluster
        self._clock = clock
        self._random = random.Random(seed)
        self._max_delay_seconds = max_delay_seconds
        self._max_answer_seconds = max_answer_seconds
        self._rates: Mapping[Fault, float] = {}
        self._lists: dict[type[ApiObject], ListResult[ApiObject]] = {}
        self.set_rates(rates)

    def set_rates(self, rates: Mapping[Fault, float]) -> None:
        """Replace all rates; with an empty mapping, no call fails from now on.

        Events and calls that are already delayed stay delayed.

        Raises:
            ValueError: A rate is not from 0 to 1.
        """
        for fault, rate in rates.items():
            if not 0 <= rate <= 1:
                raise ValueError(f"{fault.value}: expected 0 to 1, got {rate}")
        self._rates = dict(rates)

    def make_executor(self, post: Post) -> SlowExecutor:
        """Make the executor of a scheduler, by which calls can be slow.

        Args:
            post: Puts a call into that scheduler's inbox.
        """
        return SlowExecutor(
            self._clock,
            post,
            call_delay=lambda: self._slowness(Fault.SLOW_CALL),
            answer_delay=lambda: self._slowness(Fault.SLOW_ANSWER),
        )

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """Return all objects of a kind; see `quaymaster.cluster.Cluster.list`."""
        self._maybe_fail()
        old = self._lists.get(kind)
        if old is not None and self._draw(Fault.STALE_LIST):
            items = [obj for obj in old.items if isinstance(obj, kind)]
            return ListResult(items, old.resource_version)
        listed = self._cluster.list(kind)
        self._lists[kind] = ListResult(listed.items, listed.resource_version)
        return listed

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """Return one object by its key; see `quaymaster.cluster.Cluster.get`."""
        self._maybe_fail()
        return self._cluster.get(kind, key)

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        """Follow the changes of a kind; see `quaymaster.cluster.Cluster.watch`."""
        self._maybe_fail()
        inner = self._cluster.watch(kind, resource_version, notify)
        return _FaultyWatch(self._draw, self._delay, self._clock, inner, notify)

    def create(self, obj: ObjT) -> ObjT:
        """Store a new object; see `quaymaster.cluster.Cluster.create`."""
        return self._write(lambda: self._cluster.create(obj))

    def update(self, obj: ObjT) -> ObjT:
        """Replace an object; see `quaymaster.cluster.Cluster.update`."""
        self._maybe_conflict(obj.key)
        return self._write(lambda: self._cluster.update(obj))

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """Delete an object; see `quaymaster.cluster.Cluster.delete`."""
        self._maybe_conflict(key)
        self._write(
            lambda: self._cluster.delete(
                kind, key, uid=uid, grace_period_seconds=grace_period_seconds
            )
        )

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Bind a pod to a node; see `quaymaster.cluster.Cluster.bind`."""
        self._maybe_conflict(pod.key)
        if self._draw(Fault.DEAD_NODE):
            with contextlib.suppress(NotFoundError):
                self._cluster.delete(Node, node_name)
        self._write(lambda: self._cluster.bind(pod, node_name, annotations=annotations))

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Change a pod's status; see `quaymaster.cluster.Cluster.patch_pod_status`."""
        self._write(lambda: self._cluster.patch_pod_status(pod, patch))

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change a status; see `quaymaster.cluster.Cluster.patch_status`."""
        self._maybe_conflict(obj.key)
        return self._write(lambda: self._cluster.patch_status(obj, changes))

    def record(self, note: EventNote) -> None:
        """Write an Event, which never fails."""
        self._cluster.record(note)

    def _write(self, call: Callable[[], T]) -> T:
        self._maybe_fail()
        if self._draw(Fault.LOST_CALL):
            raise UnknownOutcomeError(f"{INJECTED}the call was lost")
        answer = call()
        if self._draw(Fault.LOST_ANSWER):
            raise UnknownOutcomeError(f"{INJECTED}the answer was lost")
        return answer

    def _maybe_fail(self) -> None:
        if self._draw(Fault.ERROR):
            raise ApiError(f"{INJECTED}the call failed")

    def _maybe_conflict(self, key: str) -> None:
        if self._draw(Fault.CONFLICT):
            raise ConflictError(f"{INJECTED}{key} is not the one that was known")

    def _draw(self, fault: Fault) -> bool:
        rate = self._rates.get(fault, 0.0)
        if rate == 0 or self._random.random() >= rate:
            return False
        self.counts[fault] += 1
        return True

    def _slowness(self, fault: Fault) -> float:
        if not self._draw(fault):
            return 0.0
        return self._random.uniform(0.0, self._max_answer_seconds)

    def _delay(self) -> float:
        return self._random.uniform(0.0, self._max_delay_seconds)


class _FaultyWatch(Generic[ObjT]):
    """Reads another watch, with faults; implements `quaymaster.cluster.Watch`."""

    def __init__(
        self,
        draw: Callable[[Fault], bool],
        delay: Callable[[], float],
        clock: Clock,
        inner: Watch[ObjT],
        notify: Callable[[], None],
    ) -> None:
        self._draw = draw
        self._delay = delay
        self._clock = clock
        self._inner = inner
        self._notify = notify
        self._events: list[WatchEvent[ObjT]] = []
        self._held_until = clock.now()
        self._broken: ApiError | None = None

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        if self._broken is None:
            self._broken = self._maybe_break()
        if self._broken is not None:
            self._inner.stop()
            raise self._broken
        self._events.extend(self._inner.take())
        if self._is_held():
            return ()
        events, self._events = self._events, []
        delivered = []
        for event in events:
            delivered += [event] * (2 if self._draw(Fault.REPEATED_EVENT) else 1)
        return delivered

    def stop(self) -> None:
        self._events.clear()
        self._inner.stop()

    def _maybe_break(self) -> ApiError | None:
        if self._draw(Fault.BROKEN_WATCH):
            return ApiError(f"{INJECTED}the watch broke")
        if self._draw(Fault.EXPIRED_WATCH):
            return ResourceExpiredError(f"{INJECTED}the watch expired")
        return None

    def _is_held(self) -> bool:
        if self._clock.now() < self._held_until:
            return True
        if not self._events or not self._draw(Fault.DELAYED_EVENTS):
            return False
        delay = self._delay()
        self._held_until = self._clock.now() + delay
        self._clock.call_at(self._held_until, self._notify)
        return delay > 0
