"""A heap of queued pods, or of groups, from which any entry can be removed."""

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from quaymaster._core.contract.queueing import SortKey
from quaymaster._core.queue.queue_record import QueueRecord

__all__ = ["PodHeap"]

RecordT = TypeVar("RecordT", bound=QueueRecord)

# Chosen, not measured: with fewer dead entries, a heap is not rebuilt.
_MIN_DEAD = 64


_Entry = tuple[SortKey, int, RecordT]
"""(key, ticket, record): tickets are unique, so records are never compared."""


class PodHeap(Generic[RecordT]):
    """Pods by key, and in order of arrival where keys are equal.

    Removing a pod leaves its entry in the heap, and only clears the pod's ticket. An
    entry whose ticket differs from the pod's is dead, and dropped when it is on top.

    Keys of different groups cannot be compared, so each group has its own heap. Among
    the first pods of all groups, the pod with the smallest ``rank`` comes first.

    Args:
        next_ticket: Returns the next ticket; shared by all heaps that a pod can be in.
        rank: Orders pods of different groups.
        groups: The number of groups.
    """

    __slots__ = ("_heaps", "_live", "_next_ticket", "_rank")

    def __init__(
        self,
        next_ticket: Callable[[], int],
        rank: Callable[[RecordT], SortKey],
        groups: int = 1,
    ) -> None:
        self._heaps: list[list[_Entry[RecordT]]] = [[] for _ in range(groups)]
        self._live = 0
        self._next_ticket = next_ticket
        self._rank = rank

    def __len__(self) -> int:
        return self._live

    def push(self, queued: RecordT, key: SortKey, group: int = 0) -> None:
        """Add a pod that is in no heap."""
        ticket = self._next_ticket()
        queued.sort_key = key
        queued.ticket = ticket
        heapq.heappush(self._heaps[group], (key, ticket, queued))
        self._live += 1

    def remove(self, queued: RecordT) -> None:
        """Remove a pod from this heap."""
        # The entry stays in the heap and is recognised as dead by its ticket: removing
        # it would take a search through the whole heap.
        queued.ticket = 0
        self._live -= 1
        self._drop_dead()

    def peek(self) -> RecordT | None:
        """Return the first pod, or None."""
        heap = self._first_heap()
        return heap[0][2] if heap else None

    def pop(self) -> RecordT | None:
        """Remove and return the first pod, or None."""
        # With a single heap, which is nearly always so, the loop below drops dead
        # entries on the way.
        heap = self._first_heap() if len(self._heaps) > 1 else self._heaps[0]
        while heap:
            _, ticket, queued = heapq.heappop(heap)
            if queued.ticket == ticket:
                queued.ticket = 0
                self._live -= 1
                return queued
        return None

    def __iter__(self) -> Iterator[RecordT]:
        """All pods in the order in which they would be popped."""
        # Keys of different sort groups cannot be compared. So each heap is sorted by
        # itself, and the heaps are merged by rank.
        heaps = [deque(sorted(filter(_is_live, heap))) for heap in self._heaps]
        while heaps := [heap for heap in heaps if heap]:
            yield min(heaps, key=self._rank_of_first).popleft()[2]

    def _first_heap(self) -> list[_Entry[RecordT]]:
        """Return the heap with the next pod, a live entry on top if there is one."""
        heaps = self._heaps
        for heap in heaps:
            while heap and not _is_live(heap[0]):
                heapq.heappop(heap)
        if len(heaps) == 1:
            return heaps[0]
        return min(filter(None, heaps), key=self._rank_of_first, default=[])

    def _rank_of_first(self, heap: Sequence[_Entry[RecordT]]) -> SortKey:
        return self._rank(heap[0][2])

    def _drop_dead(self) -> None:
        """Rebuild the heaps if most entries are dead, so that they cannot pile up."""
        total = sum(map(len, self._heaps))
        # Half of all entries at least, so that the cost of a rebuild is spread over as
        # many removals.
        if total - self._live <= max(_MIN_DEAD, self._live):
            return
        for heap in self._heaps:
            heap[:] = [entry for entry in heap if _is_live(entry)]
            heapq.heapify(heap)


def _is_live(entry: _Entry[RecordT]) -> bool:
    return entry[2].ticket == entry[1]
