"""Records of the queue by when their wait began, for the flush of those that wait long.

Upstream reads all waiting pods every 30 seconds
(``flushUnschedulableEntitiesLeftover``, Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``). In a simulation of weeks, most of
these passes find few pods, and the passes cost more than all decisions.
"""

import heapq
import itertools
import math
from collections.abc import Sequence
from typing import Final, Generic, Protocol, TypeVar

__all__ = ["WaitStarts"]


class Waiting(Protocol):
    """A record that waits for an event."""

    @property
    def key(self) -> str:
        """What identifies it."""

    @property
    def unhelped_since(self) -> float:
        """When its wait began."""


WaitingT = TypeVar("WaitingT", bound=Waiting)

_LATE: Final = -math.inf
"""The start of the records that `WaitStarts.late` has returned and that did not move.
No record starts then, and it is not in the heap."""

# Chosen, not measured: with fewer dead entries, a heap is not rebuilt.
_MIN_DEAD: Final = 64


class WaitStarts(Generic[WaitingT]):
    """Waiting records, ordered by the start of their wait.

    Records with the same start share an entry of a heap. All gated pods of a flush
    start again at the same time, so that a flush of many costs few heap operations.
    """

    __slots__ = ("_entries", "_heap", "_next_place", "_starts")

    def __init__(self) -> None:
        self._heap: list[float] = []
        # Start -> key -> (its place in the order of arrival, the record).
        self._starts: dict[float, dict[str, tuple[int, WaitingT]]] = {}
        # Key -> (start, place).
        self._entries: dict[str, tuple[float, int]] = {}
        self._next_place = itertools.count().__next__

    def put(self, record: WaitingT) -> None:
        """Add a record, or update it when its start has changed."""
        key, start = record.key, record.unhelped_since
        entry = self._entries.get(key)
        if entry is None:
            place = self._next_place()
        else:
            place = entry[1]
            if entry[0] != start:
                self._take_out(key, entry[0])
        records = self._starts.get(start)
        if records is None:
            records = self._starts[start] = {}
            heapq.heappush(self._heap, start)
        records[key] = (place, record)
        self._entries[key] = (start, place)

    def restart(self, record: WaitingT) -> None:
        """Remove a record and add it again, as the last one to arrive."""
        self.remove(record.key)
        self.put(record)

    def remove(self, key: str) -> None:
        """Remove a record, if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._take_out(key, entry[0])

    def late(self, limit: float) -> Sequence[WaitingT]:
        """Return the records that started before ``limit``, in order of arrival.

        A record that stays is not returned again before its next `put`.
        """
        heap = self._heap
        late: list[tuple[int, WaitingT]] = []
        while heap and heap[0] < limit:
            records = self._starts.pop(heapq.heappop(heap), None)
            if records:
                late += records.values()
                self._starts.setdefault(_LATE, {}).update(records)
        # Places are unique, so records are never compared.
        late.sort()
        for place, record in late:
            self._entries[record.key] = (_LATE, place)
        return [record for _, record in late]

    def oldest(self) -> float | None:
        """Return the earliest start; -inf for a late record that stayed, or None."""
        if self._starts.get(_LATE):
            return _LATE
        heap = self._heap
        while heap and not self._starts.get(heap[0]):
            heapq.heappop(heap)
        return heap[0] if heap else None

    def _take_out(self, key: str, start: float) -> None:
        records = self._starts[start]
        del records[key]
        if records:
            return
        del self._starts[start]
        if len(self._heap) > 2 * len(self._starts) + _MIN_DEAD:
            self._heap = [start for start in self._starts if start != _LATE]
            heapq.heapify(self._heap)
