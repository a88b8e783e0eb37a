"""The queues that a pending pod can be in, and the moves between them.

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
from quaymaster._core.queue.unschedulable_pods import KeysOf
from quaymaster._core.queue.unschedulable_queue import UnschedulableQueue

__all__ = ["QueueLengths", "SubQueues"]

_ACTIVE = QueueName.ACTIVE
_BACKOFF = QueueName.BACKOFF
_ERROR_BACKOFF = QueueName.ERROR_BACKOFF
_UNSCHEDULABLE = QueueName.UNSCHEDULABLE
_SKIP = Strategy.SKIP
_AFTER_BACKOFF = Strategy.AFTER_BACKOFF


class QueueLengths(NamedTuple):
    """The number of pods in each queue.

    Attributes:
        active: Ready to be tried.
        backoff: Waiting after a rejection or an error.
        unschedulable: Waiting for an event, including gated pods.
        in_flight: Popped, and neither requeued nor bound yet.
    """

    active: int
    backoff: int
    unschedulable: int
    in_flight: int


class SubQueues:
    """Every pending pod by its key, in exactly one of four queues.

    Args:
        clock: Gives the time.
        profiles: Sort keys and gates.
        policy: The backoff of failed pods.
        nominator: Gets the nominations of new pods.
        max_in_unschedulable_seconds: The maximum time that a pod stays unschedulable.
        flush_unschedulable: Moves the pods that are unschedulable since before a time.
        nominating_labels: The causes for which a pod that becomes active is nominated.
        keys_of: Returns the keys by which plugins find unschedulable pods.

    Attributes:
        pods: The pods of all queues.
        active: The pods that are ready to be tried.
        backoff: The pods that wait after a rejection.
        error_backoff: The pods that wait after an error.
        unschedulable: The pods that wait for an event, including gated pods.
        incoming: (queue, label of the cause) -> the number of pods that entered.
        flushes: The timers that move pods without an event.
        next_ticket: Returns the next ticket of a heap.
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
        keys_of: KeysOf[QueuedPod],
    ) -> None:
        self._clock = clock
        self._nominator = nominator
        self._nominating_labels = nominating_labels
        self.next_ticket = itertools.count(1).__next__
        self.pods: dict[str, QueuedPod] = {}
        self.adopt(profiles, policy)
        self.unschedulable = UnschedulableQueue(keys_of, self._skips_flush)
        self.incoming: Counter[tuple[str, str]] = Counter()
        self.flushes = Flushes(
            clock,
            max_in_unschedulable_seconds,
            self._flush_backoff,
            flush_unschedulable,
        )

    def adopt(self, profiles: CompiledProfiles, policy: BackoffPolicy) -> None:
        """Set the profiles and the policy, while no pod is queued."""
        assert not self.pods, "they are sorted by other profiles"
        self._profiles = profiles
        self._policy = policy
        tickets = self.next_ticket
        self.active: PodHeap[QueuedPod] = PodHeap(tickets, _rank, profiles.groups)
        self.backoff: PodHeap[QueuedPod] = PodHeap(
            tickets, _backoff_rank, profiles.groups
        )
        # Ordered by the end of the backoff alone, and never popped early:
        # ``lessBackoffCompleted``, against ``lessBackoffCompletedWithPriority`` above.
        self.error_backoff: PodHeap[QueuedPod] = PodHeap(tickets, _backoff_rank)

    def to_active(
        self, queued: QueuedPod, label: str, *, from_backoff: bool = False
    ) -> bool:
        """Make a pod active unless it is gated; return whether it is active.

        Gates are called when a pod enters a backoff queue, and not again after it.

        Args:
            queued: The pod.
            label: The label of the cause.
            from_backoff: Whether it comes from a backoff queue.
        """
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if gates and not from_backoff and not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return False
        if queued.initial_attempt_timestamp is None:
            # Only when it first gets active, so that the time behind gates does not
            # count.
            queued.initial_attempt_timestamp = self._clock.now()
        self._enter(queued, _ACTIVE)
        # The key is computed at each entry and kept in the heap: upstream's Less is
        # called for pairs, whose order could change while they are in the heap.
        self.active.push(queued, sort_key(queued), group)
        self.incoming["active", label] += 1
        if label in self._nominating_labels:
            self._nominator.add(queued.pod)
        return True

    def requeue(self, queued: QueuedPod, strategy: Strategy, label: str) -> None:
        """Move a pod to the queue for a strategy.

        Args:
            queued: The pod.
            strategy: How the event moves the pod.
            label: The label of the cause.
        """
        if strategy is _SKIP:
            self._hold_back(queued, label)
        elif strategy is _AFTER_BACKOFF and self._is_backing_off(queued):
            self._to_backoff(queued, label)
        else:
            self.to_active(queued, label)

    def ask_again(self, queued: QueuedPod, label: str) -> bool:
        """Call the gates of a gated pod; return whether it passed them, and moved.

        The same as `leave` and `requeue`, without the moves of a pod that stays gated:
        a flush may find thousands of them.
        """
        key, rejectors = queued.key, queued.rejectors
        # A plugin that activates the pod in its own gate finds none.
        del self.pods[key]
        is_open = passes_gates(
            queued, self._profiles[queued.pod.spec.scheduler_name][2]
        )
        self.pods[key] = queued
        if not is_open:
            self._stay_gated(queued, rejectors, label)
            return False
        self.leave(queued)
        if self._is_backing_off(queued):
            self._to_backoff(queued, label, is_open=True)
        else:
            self.to_active(queued, label, from_backoff=True)
        return True

    def restart_wait(self, queued: QueuedPod) -> None:
        """Count the wait of a gated pod from now on, since its gates were called."""
        queued.was_flushed = False
        queued.gate_called_at = self._clock.now()
        self.unschedulable.put(queued)

    def pop(self) -> QueuedPod | None:
        """Remove and return the next pod, or None.

        If no pod is active, the first one in backoff after a rejection is popped early.
        Pods in backoff after an error are not: an error points to a problem elsewhere.
        """
        queued = self.active.pop()
        if queued is None:
            # Not from the error backoff: pods that failed with an error wait to the
            # end, or an API server that is down would get them again at once.
            queued = self.backoff.pop()
            if queued is None:
                return None
            self.incoming["active", POP_FROM_BACKOFF] += 1
        self._popped(queued)
        return queued

    def leave(self, queued: QueuedPod) -> None:
        """Remove a pod from its queue."""
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
        """Remove a deleted or bound pod."""
        self.leave(queued)

    def reposition(self, queued: QueuedPod) -> None:
        """Move a changed pod to its new position in its heap."""
        if queued.queue is _ERROR_BACKOFF:
            return
        sort_key_of, group, _ = self._profiles[queued.pod.spec.scheduler_name]
        heap, key = self.active, sort_key_of(queued)
        if queued.queue is _BACKOFF:
            # The end first, then the order of the active queue:
            # ``lessBackoffCompletedWithPriority``.
            heap, key = self.backoff, (queued.backoff_expiration, key)
        # An equal key keeps its ticket, and so its place among equals.
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

    def _to_backoff(
        self, queued: QueuedPod, label: str, *, is_open: bool = False
    ) -> None:
        """Move a pod to a backoff queue, unless it is gated.

        Args:
            queued: The pod.
            label: The label of the cause.
            is_open: Whether the gates were called already, and let it pass.
        """
        sort_key, group, gates = self._profiles[queued.pod.spec.scheduler_name]
        if not is_open and not passes_gates(queued, gates):
            self._hold_back(queued, label)
            return
        expiration = queued.backoff_expiration
        assert expiration is not None, "its backoff was computed to find it here"
        if queued.rejectors:
            self._enter(queued, _BACKOFF)
            self.backoff.push(queued, (expiration, sort_key(queued)), group)
        else:
            self._enter(queued, _ERROR_BACKOFF)
            self.error_backoff.push(queued, expiration)
        self.incoming["backoff", label] += 1
        self.flushes.expect_backoff(expiration)

    def _hold_back(self, queued: QueuedPod, label: str) -> None:
        """Move a pod to the unschedulable pods, or keep it there.

        If another record of its name is active or backing off, that record stays.
        """
        record = self.pods.get(queued.key)
        if record is not None and record.queue is not _UNSCHEDULABLE:
            return
        if record is None:
            self.incoming["unschedulable", label] += 1
        # Identity: it is another record of this name, and only one may be queued.
        elif record is not queued:
            self.leave(record)
        self.pods[queued.key] = queued
        queued.queue = _UNSCHEDULABLE
        self.unschedulable.put(queued)
        self.flushes.expect_unschedulable(queued.unhelped_since)

    def _stay_gated(
        self, queued: QueuedPod, rejectors: frozenset[str], label: str
    ) -> None:
        """Count a pod whose gates stayed closed as one that enters."""
        queued.was_flushed = False
        queued.gate_called_at = self._clock.now()
        self.unschedulable.move_to_end(queued, rejectors)
        self.incoming["unschedulable", label] += 1

    def _skips_flush(self, queued: QueuedPod) -> bool:
        """Whether only an event or its plugin opens the gate of a gated pod."""
        name = queued.pod.spec.scheduler_name
        return self._profiles.opens_gates_itself(name, queued.gating_plugin)

    def _enter(self, queued: QueuedPod, queue: QueueName) -> None:
        """Add a record to a queue, and remove any other record of its name."""
        record = self.pods.get(queued.key)
        if record is not None:
            self.leave(record)
        self.pods[queued.key] = queued
        queued.queue = queue

    def _popped(self, queued: QueuedPod) -> None:
        del self.pods[queued.key]
        queued.queue = None

    def _is_backing_off(self, queued: QueuedPod) -> bool:
        return self._policy.is_backing_off(queued, self._clock.now())

    def _flush_backoff(self) -> None:
        """Make the pods active whose backoff is over."""
        # Both sides are aligned to a window of one second: upstream's
        # ``alignToWindow``.
        second = math.floor(self._clock.now())
        # In this order, as ``popAllBackoffCompleted``: among pods with equal keys those
        # after a rejection come first.
        for heap in (self.backoff, self.error_backoff):
            while (queued := heap.peek()) is not None:
                expiration = queued.backoff_expiration
                assert expiration is not None, "it was computed by _to_backoff"
                if expiration >= second:
                    self.flushes.expect_backoff(expiration)
                    break
                heap.pop()
                # Removed by hand rather than by `leave`, which would mark the entry
                # dead and leave it in the heap.
                self._popped(queued)
                self.to_active(queued, BACKOFF_COMPLETE, from_backoff=True)


def _rank(queued: QueuedPod) -> tuple[float, float, int]:
    """Return the rank of a pod among pods whose sort keys cannot be compared."""
    return (-queued.pod.priority, queued.timestamp, queued.ticket)


def _backoff_rank(queued: QueuedPod) -> tuple[float, float, float, int]:
    return (queued.backoff_expiration or 0.0, *_rank(queued))
