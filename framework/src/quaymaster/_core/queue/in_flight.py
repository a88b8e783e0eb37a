"""The pods that are being scheduled, and what has happened since they were popped.

Mirrors ``inFlightPods`` and ``inFlightEvents`` (Kubernetes v1.36,
``pkg/scheduler/backend/queue/active_queue.go``), with one difference in form: events
are one list, and a pod remembers how long the list was when the pod was popped.
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
    """Pods between pop and done, with the events that they will have to look at.

    An event is stored for as long as a pod is in flight that was popped before it.

    Attributes:
        started: Uid -> how many events there had been when the pod was popped.
    """

    __slots__ = ("_events", "_forgotten", "_order", "started")

    def __init__(self) -> None:
        self.started: dict[str, int] = {}
        # The same pods as (uid, start), oldest first; those that are done leave late.
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
        """How many events are stored."""
        return len(self._events)

    def events(self) -> Iterator[ClusterEvent]:
        """The events that are stored, oldest first."""
        return (recorded.event for recorded in self._events)

    def start(self, uid: str) -> bool:
        """Begin to follow a popped pod; return False if it is in flight already."""
        if uid in self.started:
            return False
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
        """Stop to follow a pod, and forget the events that no other one needs."""
        started = self.started
        if started.pop(uid, None) is None:
            return
        order, events = self._order, self._events
        if not started:
            order.clear()
            events.clear()
            return
        while started.get(order[0][0]) != order[0][1]:
            order.popleft()
        while self._forgotten < order[0][1]:
            events.popleft()
            self._forgotten += 1
