"""The pods of a scheduling queue: where each is, and why it is pending."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from quaymaster._core.contract.queueing import PendingPod
from quaymaster._core.queue.in_flight import InFlightPods
from quaymaster._core.queue.queue_record import QueueRecord
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.sub_queues import QueueLengths, SubQueues

__all__ = ["QueuedPods"]


class QueuedPods:
    """The pods of a queue that a `SchedulingQueue` moves; this class moves none."""

    _queues: SubQueues
    _in_flight: InFlightPods

    def __len__(self) -> int:
        """The number of queued pods, without pods in flight."""
        return len(self._queues.pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        """All queued pods, in no particular order, without pods in flight."""
        return iter(self._queues.pods.values())

    def __contains__(self, key: str) -> bool:
        return key in self._queues.pods

    def records(self) -> Iterator[QueueRecord]:
        """Return what waits for an attempt; groups only in a `GroupQueue`."""
        return iter(self._queues.pods.values())

    def entered_groups(self) -> Mapping[tuple[str, str], int]:
        """Return how often PodGroups entered a queue; only a `GroupQueue` has some."""
        return {}

    def get(self, key: str) -> QueuedPod | None:
        """Return a queued pod by its ``namespace/name``, or None."""
        return self._queues.pods.get(key)

    def active(self) -> Sequence[QueuedPod]:
        """Return the active pods, in the order in which they will be tried."""
        return list(self._queues.active)

    def backing_off(self) -> Sequence[QueuedPod]:
        """Return the pods in backoff after a rejection, by the end of the backoff."""
        return list(self._queues.backoff)

    def backing_off_after_error(self) -> Sequence[QueuedPod]:
        """Return the pods in backoff after an error, by the end of the backoff."""
        return list(self._queues.error_backoff)

    def unschedulable(self) -> Sequence[QueuedPod]:
        """Return the rejected and the gated pods."""
        return list(self._queues.unschedulable)

    def incomplete(self) -> Sequence[QueuedPod]:
        """Return the pods whose group has no object; only a `GroupQueue` has any."""
        return ()

    def lengths(self) -> QueueLengths:
        """Return the number of pods in each queue, and in flight."""
        queues = self._queues
        return QueueLengths(
            active=len(queues.active),
            backoff=len(queues.backoff) + len(queues.error_backoff),
            unschedulable=len(queues.unschedulable),
            in_flight=len(self._in_flight),
        )

    @property
    def in_flight(self) -> Sequence[str]:
        """The uids of the pods in flight, in the order in which they were popped."""
        return list(self._in_flight)

    @property
    def in_flight_event_count(self) -> int:
        """The number of events that are stored for pods in flight."""
        return self._in_flight.event_count

    def in_flight_events(self) -> Counter[str]:
        """Count the events that are stored for pods in flight, by their labels."""
        return Counter(event.label for event in self._in_flight.events())

    def why_pending(self, key: str) -> PendingPod | None:
        """Return why a pod is pending; None if it is not queued."""
        queued = self._queues.pods.get(key)
        if queued is None:
            return None
        return self._explain(queued, self._queues.retry_at(queued))

    def _explain(self, queued: QueuedPod, retry_at: float | None) -> PendingPod:
        assert queued.queue is not None, "it is queued"
        return PendingPod(
            key=queued.key,
            uid=queued.pod.uid,
            queue=queued.queue,
            gated_by=queued.gating_plugin,
            rejected_by=tuple(sorted(queued.rejectors)),
            waits_for=tuple(sorted(queued.pending_plugins)),
            attempts=queued.attempts,
            since=queued.timestamp,
            retry_at=retry_at,
        )
