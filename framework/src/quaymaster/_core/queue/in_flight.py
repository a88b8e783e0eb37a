"""The pods that are being scheduled, and the events since they were popped.

Mirrors ``inFlightPods`` and ``inFlightEvents`` (Kubernetes v1.36,
``pkg/scheduler/backend/queue/active_queue.go``), with one difference in form: events
are one list, and each pod has the length of the list at the time of its pop.
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.cluster_events import ClusterEvent

__all__ = ["InFlightPods", "RecordedEvent"]


class RecordedEvent(NamedTuple):
    """An event with the objects that it is about."""

    event: ClusterEvent
    old: ApiObject | None
    new: ApiObject | None


class InFlightPods:
    """Pods between pop and done, with the events that happened in the meantime.

    An event is stored as long as a pod is in flight that was popped before it.

    Attributes:
        started: Uid -> the number of events before the pod was popped.
    """

    __slots__ = ("_events", "_forgotten", "_order", "started")

    def __init__(self) -> None:
        self.started: dict[str, int] = {}
        # The same pods as (uid, start), oldest first; finished ones are removed late.
        self._order: deque[tuple[str, int]] = deque()
        self._events: deque[RecordedEvent] = deque()
        self._forgotten = 0

    def __len__(self) -> int:
        return len(self.started)

    def __contains__(self, uid: str) -> bool:
        return uid in self.started

    def __iter__(self) -> Iterator[str]:
        """The uids, in the order in which they were popped."""
        return iter(self.started)

    @property
    def event_count(self) -> int:
        """The number of stored events."""
        return len(self._events)

    def events(self) -> Iterator[ClusterEvent]:
        """Return the stored events, oldest first."""
        return (recorded.event for recorded in self._events)

    def start(self, uid: str) -> bool:
        """Add a popped pod; return False if it is already in flight."""
        if uid in self.started:
            return False
        # Counted from the first event ever, so that the positions of other pods stay
        # valid when events at the front are dropped.
        position = self._forgotten + len(self._events)
        self.started[uid] = position
        self._order.append((uid, position))
        return True

    def record(
        self, event: ClusterEvent, old: ApiObject | None, new: ApiObject | None
    ) -> None:
        """Store an event for all pods in flight, if there are any."""
        if self.started:
            self._events.append(RecordedEvent(event, old, new))

    def events_since(self, uid: str) -> Iterator[RecordedEvent]:
        """Return the events recorded since a pod was popped, oldest first.

        Raises:
            KeyError: The pod is not in flight.
        """
        return islice(self._events, self.started[uid] - self._forgotten, None)

    def done(self, uid: str) -> None:
        """Remove a pod, and drop the events that no other pod needs."""
        started = self.started
        if started.pop(uid, None) is None:
            return
        order, events = self._order, self._events
        # The usual case: one pod at a time is in flight, and no other one needs the
        # events.
        if not started:
            order.clear()
            events.clear()
            return
        # The oldest pod in flight decides which events are kept. Upstream walks one
        # list of pods and events for that.
        # The position is compared, too: the same pod may have been popped again, with
        # an older entry left in front.
        while started.get(order[0][0]) != order[0][1]:
            order.popleft()
        while self._forgotten < order[0][1]:
            events.popleft()
            self._forgotten += 1
