"""A heap of queued pods that lets pods leave from anywhere in it."""

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from quaymaster._core.contract.queueing import SortKey
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["PodHeap"]

# Below this a heap is cheaper to keep than to make anew; chosen, not measured.
_MIN_DEAD = 64


_Entry = tuple[SortKey, int, QueuedPod]
"""Tickets are unique, so that records themselves are never compared."""


class PodHeap:
    """Pods by key, and in order of arrival where keys are equal.

    A pod that leaves keeps its entry in the heap, but loses its ticket: entries without
    a valid ticket are dead, and dropped when they come up.

    Keys of different groups cannot be compared, so each group has a heap of its own,
    and of the first pods of all groups the one with the smallest ``rank`` comes first.

    Args:
        next_ticket: Hands out tickets; shared by all heaps that a pod can be in.
        rank: Orders pods of different groups.
        groups: How many groups there are.
    """

    __slots__ = ("_heaps", "_live", "_next_ticket", "_rank")

    def __init__(
        self,
        next_ticket: Callable[[], int],
        rank: Callable[[QueuedPod], SortKey],
        groups: int = 1,
    ) -> None:
        self._heaps: list[list[_Entry]] = [[] for _ in range(groups)]
        self._live = 0
        self._next_ticket = next_ticket
        self._rank = rank

    def __len__(self) -> int:
        return self._live

    def push(self, queued: QueuedPod, key: SortKey, group: int = 0) -> None:
        """Add a pod that is in no heap."""
        ticket = self._next_ticket()
        queued.sort_key = key
        queued.ticket = ticket
        heapq.heappush(self._heaps[group], (key, ticket, queued))
        self._live += 1

    def remove(self, queued: QueuedPod) -> None:
        """Take a pod out of this heap."""
        queued.ticket = 0
        self._live -= 1
        self._drop_dead()

    def peek(self) -> QueuedPod | None:
        """Return the first pod, or None."""
        heap = self._first_heap()
        return heap[0][2] if heap else None

    def pop(self) -> QueuedPod | None:
        """Take the first pod out, or None."""
        heap = self._first_heap() if len(self._heaps) > 1 else self._heaps[0]
        while heap:
            _, ticket, queued = heapq.heappop(heap)
            if queued.ticket == ticket:
                queued.ticket = 0
                self._live -= 1
                return queued
        return None

    def __iter__(self) -> Iterator[QueuedPod]:
        """All pods in the order in which they would be popped."""
        heaps = [deque(sorted(filter(_is_live, heap))) for heap in self._heaps]
        while heaps := [heap for heap in heaps if heap]:
            yield min(heaps, key=self._rank_of_first).popleft()[2]

    def _first_heap(self) -> list[_Entry]:
        """Return the heap of the group that is next, a live entry on top if any."""
        heaps = self._heaps
        for heap in heaps:
            while heap and not _is_live(heap[0]):
                heapq.heappop(heap)
        if len(heaps) == 1:
            return heaps[0]
        return min(filter(None, heaps), key=self._rank_of_first, default=[])

    def _rank_of_first(self, heap: Sequence[_Entry]) -> SortKey:
        return self._rank(heap[0][2])

    def _drop_dead(self) -> None:
        """Rebuild heaps of mostly dead entries, so that they cannot pile up."""
        total = sum(map(len, self._heaps))
        if total - self._live <= max(_MIN_DEAD, self._live):
            return
        for heap in self._heaps:
            heap[:] = [entry for entry in heap if _is_live(entry)]
            heapq.heapify(heap)


def _is_live(entry: _Entry) -> bool:
    return entry[2].ticket == entry[1]
