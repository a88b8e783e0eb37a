"""Pods that wait to be scheduled: who is next, who waits, and what wakes whom.

Mirrors ``PriorityQueue`` (Kubernetes v1.36,
``pkg/scheduler/backend/queue/scheduling_queue.go``) with the feature gates at their
defaults. One thread calls everything here.
"""

import itertools
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from quaymaster._queue.backoff import BackoffPolicy
from quaymaster._queue.events import (
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POD_ADD_LABEL,
    POD_UPDATE_LABEL,
    POP_FROM_BACKOFF,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
)
from quaymaster._queue.flushes import Flushes
from quaymaster._queue.gates import passes_gates
from quaymaster._queue.hints import HintRegistry, Question, Strategy
from quaymaster._queue.in_flight import InFlightPods
from quaymaster._queue.nominator import Nominator, PodLookup
from quaymaster._queue.pod_heap import PodHeap
from quaymaster._queue.profile import CompiledProfiles, QueueProfile
from quaymaster._queue.queued_pod import QueuedPod
from quaymaster._queue.unschedulable_pods import UnschedulablePods
from quaymaster.clock import Clock
from quaymaster.cluster_events import ActionType, ClusterEvent, EventResource
from quaymaster.objects import ApiObject, Pod
from quaymaster.queueing import PendingPod, QueueName

__all__ = ["SchedulingQueue"]

_log = logging.getLogger(__name__)

_ACTIVE = QueueName.ACTIVE
_BACKOFF = QueueName.BACKOFF
_ERROR_BACKOFF = QueueName.ERROR_BACKOFF
_UNSCHEDULABLE = QueueName.UNSCHEDULABLE


class SchedulingQueue:
    """All pending pods of all profiles.

    A pod is in one of four queues, by its key, or *in flight*, by its uid: popped, and
    not done yet. Whatever happens while it is in flight is kept, and asked about when
    it comes back, so that no event is lost.

    Args:
        clock: Tells the time and runs the flushes.
        profiles: Scheduler name -> its profile; at least one.
        lookup: The informers' pods.
        backoff: How long failed pods wait.
        max_in_unschedulable_seconds: After this long without a helpful event, a
            rejected pod is tried again.

    Attributes:
        nominator: The pods that are nominated to nodes.
        incoming: (queue, label of the cause) -> how many pods entered; upstream's
            metric ``queue_incoming_pods_total``.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        profiles: Mapping[str, QueueProfile],
        lookup: PodLookup,
        backoff: BackoffPolicy | None = None,
        max_in_unschedulable_seconds: float = 300.0,
    ) -> None:
        self.nominator = Nominator(lookup)
        self.incoming: Counter[tuple[str, str]] = Counter()
        self._clock = clock
        self._profiles = CompiledProfiles(profiles)
        self._policy = backoff or BackoffPolicy()
        self._hints = HintRegistry(
            {name: profile.events for name, profile in profiles.items()}
        )
        tickets = itertools.count(1).__next__
        groups = self._profiles.groups
        self._pods: dict[str, QueuedPod] = {}
        self._active = PodHeap(tickets, _rank, groups)
        self._backoff = PodHeap(tickets, _backoff_rank, groups)
        self._error_backoff = PodHeap(tickets, _backoff_rank)
        self._unschedulable = UnschedulablePods(profiles.keys())
        self._in_flight = InFlightPods()
        self._flushes = Flushes(
            clock,
            max_in_unschedulable_seconds,
            self._flush_backoff,
            self._flush_unschedulable,
        )

    # Life of a pod ------------------------------------------------------------------

    def start(self) -> None:
        """Begin with the periodic flushes, as background timers of the clock."""
        self._flushes.start()

    def add(self, pod: Pod) -> None:
        """Queue a pod that has just appeared."""
        self._to_active(QueuedPod(pod, self._clock.now()), POD_ADD_LABEL)

    def pop(self) -> QueuedPod | None:
        """Take the next pod to be tried; it is in flight until `done`.

        If no pod is active, one whose backoff has not ended yet is taken, but not
        after an error: then something outside is in trouble, and gets its rest.

        Returns:
            The pod, or None if there is none to try.
        """
        while True:
            queued = self._active.pop()
            if queued is None:
                queued = self._backoff.pop()
                if queued is None:
                    return None
                self.incoming["active", POP_FROM_BACKOFF] += 1
            del self._pods[queued.key]
            queued.queue = None
            queued.attempts += 1
            if self._in_flight.start(queued.pod.metadata.uid):
                return queued
            _log.error("pod %s is in flight already: popped pod dropped", queued.key)

    def done(self, uid: str) -> None:
        """A popped pod has got a node, or is gone; calling it twice does no harm."""
        self._in_flight.done(uid)

    def add_unschedulable(self, queued: QueuedPod) -> None:
        """Take back a popped pod whose attempt failed; it is in flight no more.

        Args:
            queued: The record that was popped, with the newest object of the pod, and
                the plugins that rejected it; without any it counts as an error.
        """
        if queued.key in self._pods:
            _log.error("pod %s is in the queue already", queued.key)
        else:
            self._take_back(queued)
        self._in_flight.done(queued.pod.metadata.uid)

    def update(self, old: Pod, new: Pod, changes: Sequence[ClusterEvent]) -> None:
        """Take over a changed pod, which may make it schedulable.

        Args:
            old: The pod as it was.
            new: The pod as it is.
            changes: What the change amounts to, see `quaymaster._engine.changes`.
        """
        if new.metadata.uid in self._in_flight:
            # It will come back with the newest object; then these events count.
            for event in changes:
                self._in_flight.record(event, old, new)
            return
        queued = self._pods.get(old.key)
        if queued is None:
            self._to_active(QueuedPod(new, self._clock.now()), POD_UPDATE_LABEL)
            return
        queued.pod = new
        if queued.queue is _UNSCHEDULABLE:
            self.nominator.update(old, new)
            self._update_unschedulable(queued, old, changes)
        else:
            self._reposition(queued)
            self.nominator.update(old, new)

    def delete(self, pod: Pod) -> None:
        """Forget a pod that is gone or bound; if it is in flight, it stays so."""
        self.nominator.delete(pod)
        queued = self._pods.get(pod.key)
        if queued is not None:
            self._leave(queued)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Make pods active at once, whatever their backoff; gates still hold.

        A pod that is in flight is told when it comes back.
        """
        for pod in pods:
            if not self._activate(pod) and pod.metadata.uid in self._in_flight:
                self._in_flight.record(FORCE_ACTIVATE, None, pod)

    def move_all(
        self,
        event: ClusterEvent,
        old: ApiObject | None = None,
        new: ApiObject | None = None,
        *,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """Wake the unschedulable pods that an event may help.

        Args:
            event: What happened.
            old: The object before the change, or None.
            new: The object after the change, or None.
            pre_check: If given, only pods that it accepts are looked at; pods in
                flight hear of the event anyway.
        """
        if event.is_wildcard:
            candidates: Collection[QueuedPod] = list(self._unschedulable)
        else:
            plugins = self._hints.interested(event)
            if not plugins:
                return
            candidates = self._unschedulable.rejected_by(plugins)
        if pre_check is not None:
            candidates = [queued for queued in candidates if pre_check(queued.pod)]
        self._wake(candidates, event, old, new)

    def is_watched(self, resource: EventResource, action: ActionType) -> bool:
        """Whether some plugin registered this resource with any of these actions."""
        return self._hints.is_watched(resource, action)

    # Questions ----------------------------------------------------------------------

    def __len__(self) -> int:
        """How many pods are queued; those in flight are not."""
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        """All queued pods, in no order that means anything; those in flight are not."""
        return iter(self._pods.values())

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def get(self, key: str) -> QueuedPod | None:
        """A queued pod by its ``namespace/name``, or None."""
        return self._pods.get(key)

    def active(self) -> Sequence[QueuedPod]:
        """The active pods, in the order in which they will be tried."""
        return list(self._active)

    def backing_off(self) -> Sequence[QueuedPod]:
        """The pods in backoff after a rejection, in the order of their return."""
        return list(self._backoff)

    def backing_off_after_error(self) -> Sequence[QueuedPod]:
        """The pods in backoff after an error, in the order of their return."""
        return list(self._error_backoff)

    def unschedulable(self) -> Sequence[QueuedPod]:
        """The rejected and the gated pods."""
        return list(self._unschedulable)

    @property
    def in_flight(self) -> Sequence[str]:
        """The uids of the pods in flight, in the order in which they were popped."""
        return list(self._in_flight)

    @property
    def in_flight_event_count(self) -> int:
        """How many events are kept for pods in flight."""
        return self._in_flight.event_count

    def pending_pods(self) -> Sequence[PendingPod]:
        """Why each queued pod is pending, sorted by key."""
        return [self._explain(self._pods[key]) for key in sorted(self._pods)]

    def why_pending(self, key: str) -> PendingPod | None:
        """Why one pod is pending; None if it is not queued."""
        queued = self._pods.get(key)
        return None if queued is None else self._explain(queued)

    # Between the queues -------------------------------------------------------------

    def _to_active(
        self, queued: QueuedPod, label: str, *, from_backoff: bool = False
    ) -> bool:
        """Make a pod active unless it is gated; return whether it is.

        Gates were asked when a pod entered the backoff queue, and are not asked again.
        """
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if gates and not from_backoff and not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return False
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = self._clock.now()
        self._replace(queued, _ACTIVE)
        self._active.push(queued, sort_key(queued), group)
        self.incoming["active", label] += 1
        if label in (POD_ADD_LABEL, POD_UPDATE_LABEL):
            self.nominator.add(queued.pod)
        return True

    def _to_backoff(self, queued: QueuedPod, label: str) -> bool:
        """Let a pod wait for the end of its backoff; False if it is gated instead."""
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return False
        expiration = self._policy.expiration(queued)
        assert expiration is not None, "only pods with a backoff come here"
        if queued.rejectors:
            self._replace(queued, _BACKOFF)
            self._backoff.push(queued, (expiration, sort_key(queued)), group)
        else:
            self._replace(queued, _ERROR_BACKOFF)
            self._error_backoff.push(queued, expiration)
        self.incoming["backoff", label] += 1
        self._flushes.expect_backoff(expiration)
        return True

    def _hold_back(self, queued: QueuedPod, label: str) -> None:
        """Keep a pod among the unschedulable ones, or put it there.

        If another record of this name is active or backing off, that one stays.
        """
        known = self._pods.get(queued.key)
        if known is not None and known.queue is not _UNSCHEDULABLE:
            return
        if known is None:
            self.incoming["unschedulable", label] += 1
        elif known is not queued:
            self._leave(known)
        self._pods[queued.key] = queued
        queued.queue = _UNSCHEDULABLE
        self._unschedulable.put(queued)
        self._flushes.expect_unschedulable(queued.timestamp)

    def _requeue(self, queued: QueuedPod, strategy: Strategy, label: str) -> None:
        if strategy is Strategy.SKIP:
            self._hold_back(queued, label)
        elif strategy is Strategy.AFTER_BACKOFF and self._is_backing_off(queued):
            self._to_backoff(queued, label)
        else:
            self._to_active(queued, label)

    def _replace(self, queued: QueuedPod, queue: QueueName) -> None:
        """Let a record enter a queue, and nothing else of its name stay anywhere."""
        known = self._pods.get(queued.key)
        if known is not None:
            self._leave(known)
        self._pods[queued.key] = queued
        queued.queue = queue

    def _leave(self, queued: QueuedPod) -> None:
        del self._pods[queued.key]
        if queued.queue is _UNSCHEDULABLE:
            self._unschedulable.remove(queued)
        elif queued.queue is _ACTIVE:
            self._active.remove(queued)
        elif queued.queue is _BACKOFF:
            self._backoff.remove(queued)
        else:
            self._error_backoff.remove(queued)
        queued.queue = None

    def _is_backing_off(self, queued: QueuedPod) -> bool:
        return self._policy.is_backing_off(queued, self._clock.now())

    # What moves pods ----------------------------------------------------------------

    def _take_back(self, queued: QueuedPod) -> None:
        if queued.rejectors:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.timestamp = self._clock.now()
        queued.backoff_expiration = None
        queued.was_flushed = False
        strategy = self._strategy_after_attempt(queued)
        self._requeue(queued, strategy, SCHEDULE_ATTEMPT_FAILURE)

    def _strategy_after_attempt(self, queued: QueuedPod) -> Strategy:
        """What all events together mean that happened during the attempt."""
        uid = queued.pod.metadata.uid
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF
        if uid not in self._in_flight:
            _log.error("pod %s comes back, but was not in flight", queued.key)
            return Strategy.AFTER_BACKOFF
        result = Strategy.SKIP
        for event, old, new in self._in_flight.events_since(uid):
            strategy = Question(self._hints, event, old, new).strategy(queued)
            if strategy is Strategy.IMMEDIATELY:
                return strategy
            if strategy is Strategy.AFTER_BACKOFF:
                result = strategy
                if not queued.pending_plugins:
                    return result
        return result

    def _update_unschedulable(
        self, queued: QueuedPod, old: Pod, changes: Sequence[ClusterEvent]
    ) -> None:
        """Ask about each change of the pod itself until one moves it.

        Unlike other events, these are not kept from gated pods.
        """
        for event in changes:
            question = Question(self._hints, event, old, queued.pod)
            self._requeue(queued, question.strategy(queued), event.label)
            if queued.queue is not _UNSCHEDULABLE:
                return

    def _reposition(self, queued: QueuedPod) -> None:
        """Move a changed pod to its new place in the heap that it is in."""
        if queued.queue is _ERROR_BACKOFF:
            return
        sort_key_of, group, _ = self._profiles[queued.pod.spec.scheduler_name]
        heap, key = self._active, sort_key_of(queued)
        if queued.queue is _BACKOFF:
            heap, key = self._backoff, (queued.backoff_expiration, key)
        if key != queued.sort_key:
            heap.remove(queued)
            heap.push(queued, key, group)

    def _activate(self, pod: Pod) -> bool:
        queued = self._pods.get(pod.key)
        if queued is None or queued.queue is _ACTIVE:
            return False
        from_backoff = queued.queue is not _UNSCHEDULABLE
        return self._to_active(
            queued, FORCE_ACTIVATE.custom_label, from_backoff=from_backoff
        )

    def _wake(
        self,
        candidates: Collection[QueuedPod],
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> None:
        if candidates:
            question = Question(self._hints, event, old, new)
            label = event.label
            for queued in candidates:
                self._wake_one(queued, event, question, label)
        self._in_flight.record(event, old, new)

    def _wake_one(
        self, queued: QueuedPod, event: ClusterEvent, question: Question, label: str
    ) -> None:
        gate = queued.gating_plugin
        if gate and not self._hints.may_ungate(gate, event):
            return
        strategy = question.strategy(queued)
        if strategy is not Strategy.SKIP:
            self._leave(queued)
            self._requeue(queued, strategy, label)

    def _flush_backoff(self) -> None:
        """Make the pods active whose backoff is over."""
        second = math.floor(self._clock.now())
        for heap in (self._backoff, self._error_backoff):
            while (queued := heap.peek()) is not None:
                expiration = queued.backoff_expiration
                assert expiration is not None, "it was worked out on the way in"
                if expiration >= second:
                    self._flushes.expect_backoff(expiration)
                    break
                self._to_active(queued, BACKOFF_COMPLETE, from_backoff=True)

    def _flush_unschedulable(self, limit: float) -> None:
        """Give up waiting for an event that helps the pods from before ``limit``."""
        late = [queued for queued in self._unschedulable if queued.timestamp < limit]
        for queued in late:
            queued.was_flushed = True
        if late:
            self._wake(late, UNSCHEDULABLE_TIMEOUT, None, None)
        if self._unschedulable:
            oldest = min(queued.timestamp for queued in self._unschedulable)
            self._flushes.expect_unschedulable(oldest)

    def _explain(self, queued: QueuedPod) -> PendingPod:
        return PendingPod(
            key=queued.key,
            uid=queued.pod.uid,
            queue=queued.queue,
            gated_by=queued.gating_plugin,
            rejected_by=tuple(sorted(queued.rejectors)),
            waits_for=tuple(sorted(queued.pending_plugins)),
            attempts=queued.attempts,
            since=queued.timestamp,
            retry_at=self._retry_at(queued),
        )

    def _retry_at(self, queued: QueuedPod) -> float | None:
        if queued.queue is _ACTIVE or queued.is_gated:
            return None
        if queued.queue is _UNSCHEDULABLE:
            return self._flushes.unschedulable_at(queued.timestamp)
        assert queued.backoff_expiration is not None, "it is backing off"
        return self._flushes.backoff_at(queued.backoff_expiration)


def _rank(queued: QueuedPod) -> tuple[float, float, int]:
    """The order of pods whose own keys cannot be compared."""
    return (-queued.pod.priority, queued.timestamp, queued.ticket)


def _backoff_rank(queued: QueuedPod) -> tuple[float, float, float, int]:
    return (queued.backoff_expiration or 0.0, *_rank(queued))
