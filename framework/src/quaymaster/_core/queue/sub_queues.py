"""The queues that a pending pod can be in, and the ways between them.

Mirrors ``moveToActiveQ``, ``moveToBackoffQ`` and ``requeuePodWithQueueingStrategy``
(Kubernetes v1.36, ``pkg/scheduler/backend/queue/scheduling_queue.go``).
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Container
from typing import NamedTuple

from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import BACKOFF_COMPLETE, POP_FROM_BACKOFF
from quaymaster._core.queue.flushes import Flushes
from quaymaster._core.queue.gates import passes_gates
from quaymaster._core.queue.hints import Strategy
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.pod_heap import PodHeap
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.unschedulable_pods import KeysOf, UnschedulablePods

__all__ = ["QueueLengths", "SubQueues"]

_ACTIVE = QueueName.ACTIVE
_BACKOFF = QueueName.BACKOFF
_ERROR_BACKOFF = QueueName.ERROR_BACKOFF
_UNSCHEDULABLE = QueueName.UNSCHEDULABLE


class QueueLengths(NamedTuple):
    """How many pods are in each queue.

    Attributes:
        active: About to be tried.
        backoff: Waiting after a rejection or an error.
        unschedulable: Waiting for an event, gated ones included.
        in_flight: Popped, and neither back nor bound yet.
    """

    active: int
    backoff: int
    unschedulable: int
    in_flight: int


class SubQueues:
    """Every pending pod by its key, in exactly one of four queues.

    Args:
        clock: Tells the time.
        profiles: Sort keys and gates.
        policy: How long failed pods wait.
        nominator: Learns the nominations of new pods.
        max_in_unschedulable_seconds: How long a pod stays unschedulable at most.
        flush_unschedulable: Moves the unschedulable pods from before a given time.
        nominating_labels: The causes for which a pod that becomes active is nominated.
        keys_of: Gives the keys by which plugins find unschedulable pods.

    Attributes:
        pods: The pods of all queues.
        active: Those about to be tried.
        backoff: Those that wait after a rejection.
        error_backoff: Those that wait after an error.
        unschedulable: Those that wait for an event, gated ones included.
        incoming: (queue, label of the cause) -> how many pods entered.
        flushes: When pods move by themselves.
    """

    def __init__(
        self,
        clock: Clock,
        profiles: CompiledProfiles,
        policy: BackoffPolicy,
        nominator: Nominator,
        max_in_unschedulable_seconds: float,
        flush_unschedulable: Callable[[float], None],
        nominating_labels: Container[str],
        keys_of: KeysOf,
    ) -> None:
        self._clock = clock
        self._nominator = nominator
        self._nominating_labels = nominating_labels
        self._next_ticket = itertools.count(1).__next__
        self.pods: dict[str, QueuedPod] = {}
        self.adopt(profiles, policy)
        self.unschedulable = UnschedulablePods(keys_of)
        self.incoming: Counter[tuple[str, str]] = Counter()
        self.flushes = Flushes(
            clock,
            max_in_unschedulable_seconds,
            self._flush_backoff,
            flush_unschedulable,
        )

    def adopt(self, profiles: CompiledProfiles, policy: BackoffPolicy) -> None:
        """Begin with these profiles and this policy, while no pod is queued."""
        assert not self.pods, "they are sorted by other profiles"
        self._profiles = profiles
        self._policy = policy
        tickets = self._next_ticket
        self.active = PodHeap(tickets, _rank, profiles.groups)
        self.backoff = PodHeap(tickets, _backoff_rank, profiles.groups)
        self.error_backoff = PodHeap(tickets, _backoff_rank)

    def to_active(
        self, queued: QueuedPod, label: str, *, from_backoff: bool = False
    ) -> bool:
        """Make a pod active unless it is gated; return whether it is.

        Gates were asked when a pod entered the backoff queue, and are not asked again.

        Args:
            queued: The pod.
            label: What is the cause.
            from_backoff: Whether it has been waiting in a backoff queue.
        """
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if gates and not from_backoff and not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return False
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = self._clock.now()
        self._enter(queued, _ACTIVE)
        self.active.push(queued, sort_key(queued), group)
        self.incoming["active", label] += 1
        if label in self._nominating_labels:
            self._nominator.add(queued.pod)
        return True

    def requeue(self, queued: QueuedPod, strategy: Strategy, label: str) -> None:
        """Put a pod into the queue that a strategy calls for.

        Args:
            queued: The pod.
            strategy: What the event means for it.
            label: What is the cause.
        """
        if strategy is Strategy.SKIP:
            self._hold_back(queued, label)
        elif strategy is Strategy.AFTER_BACKOFF and self._is_backing_off(queued):
            self._to_backoff(queued, label)
        else:
            self.to_active(queued, label)

    def pop(self) -> QueuedPod | None:
        """Take the next pod out, or None.

        If no pod is active, the first one in backoff comes before its time, but not
        after an error: that says that something outside is in trouble.
        """
        queued = self.active.pop()
        if queued is None:
            queued = self.backoff.pop()
            if queued is None:
                return None
            self.incoming["active", POP_FROM_BACKOFF] += 1
        self._popped(queued)
        return queued

    def leave(self, queued: QueuedPod) -> None:
        """Take a pod out of the queue that it is in."""
        del self.pods[queued.key]
        if queued.queue is _UNSCHEDULABLE:
            self.unschedulable.remove(queued)
        elif queued.queue is _ACTIVE:
            self.active.remove(queued)
        elif queued.queue is _BACKOFF:
            self.backoff.remove(queued)
        else:
            self.error_backoff.remove(queued)
        queued.queue = None

    def delete(self, queued: QueuedPod) -> None:
        """Let go of a pod that is gone or bound."""
        self.leave(queued)

    def reposition(self, queued: QueuedPod) -> None:
        """Move a pod whose object has changed to its new place in its heap."""
        if queued.queue is _ERROR_BACKOFF:
            return
        sort_key_of, group, _ = self._profiles[queued.pod.spec.scheduler_name]
        heap, key = self.active, sort_key_of(queued)
        if queued.queue is _BACKOFF:
            heap, key = self.backoff, (queued.backoff_expiration, key)
        if key != queued.sort_key:
            heap.remove(queued)
            heap.push(queued, key, group)

    def retry_at(self, queued: QueuedPod) -> float | None:
        """Return when a pod is retried without an event; None if active or gated."""
        if queued.queue is _ACTIVE or queued.is_gated:
            return None
        if queued.queue is _UNSCHEDULABLE:
            return self.flushes.unschedulable_at(queued.unhelped_since)
        assert queued.backoff_expiration is not None, "it is backing off"
        return self.flushes.backoff_at(queued.backoff_expiration)

    def _to_backoff(self, queued: QueuedPod, label: str) -> None:
        """Let a pod wait for the end of its backoff, unless it is gated."""
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return
        expiration = self._policy.expiration(queued)
        assert expiration is not None, "only pods with a backoff come here"
        if queued.rejectors:
            self._enter(queued, _BACKOFF)
            self.backoff.push(queued, (expiration, sort_key(queued)), group)
        else:
            self._enter(queued, _ERROR_BACKOFF)
            self.error_backoff.push(queued, expiration)
        self.incoming["backoff", label] += 1
        self.flushes.expect_backoff(expiration)

    def _hold_back(self, queued: QueuedPod, label: str) -> None:
        """Keep a pod among the unschedulable ones, or put it there.

        If another record of this name is active or backing off, that one stays.
        """
        known = self.pods.get(queued.key)
        if known is not None and known.queue is not _UNSCHEDULABLE:
            return
        if known is None:
            self.incoming["unschedulable", label] += 1
        # Identity: another record of this name, of which only one may be queued.
        elif known is not queued:
            self.leave(known)
        self.pods[queued.key] = queued
        queued.queue = _UNSCHEDULABLE
        self.unschedulable.put(queued)
        self.flushes.expect_unschedulable(queued.unhelped_since)

    def _enter(self, queued: QueuedPod, queue: QueueName) -> None:
        """Put a record into a queue, in place of any other record of its name."""
        known = self.pods.get(queued.key)
        if known is not None:
            self.leave(known)
        self.pods[queued.key] = queued
        queued.queue = queue

    def _popped(self, queued: QueuedPod) -> None:
        del self.pods[queued.key]
        queued.queue = None

    def _is_backing_off(self, queued: QueuedPod) -> bool:
        return self._policy.is_backing_off(queued, self._clock.now())

    def _flush_backoff(self) -> None:
        """Make the pods active whose backoff is over."""
        second = math.floor(self._clock.now())
        for heap in (self.backoff, self.error_backoff):
            while (queued := heap.peek()) is not None:
                expiration = queued.backoff_expiration
                assert expiration is not None, "it was worked out on the way in"
                if expiration >= second:
                    self.flushes.expect_backoff(expiration)
                    break
                heap.pop()
                self._popped(queued)
                self.to_active(queued, BACKOFF_COMPLETE, from_backoff=True)


def _rank(queued: QueuedPod) -> tuple[float, float, int]:
    """Return the rank of a pod among pods whose own keys cannot be compared."""
    return (-queued.pod.priority, queued.timestamp, queued.ticket)


def _backoff_rank(queued: QueuedPod) -> tuple[float, float, float, int]:
    return (queued.backoff_expiration or 0.0, *_rank(queued))
