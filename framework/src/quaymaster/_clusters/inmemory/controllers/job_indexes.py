"""The completion indexes of an Indexed Job: done, failed, or taken by a pod.

Mirrors ``pkg/controller/job/indexed_job_utils.go`` (Kubernetes v1.37).
"""

import heapq
from collections.abc import Iterator
from typing import Final

from quaymaster._api.objects import Job, Pod
from quaymaster._clusters.inmemory.controllers.index_ranges import (
    IndexRanges,
    parse_index,
)

__all__ = [
    "FAILURES",
    "IGNORED_FAILURES",
    "INDEX",
    "JobIndexes",
    "failure_count",
    "index_of",
]

INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"


class JobIndexes:
    """The indexes of one Job.

    Args:
        job: The Job, with the indexes that its status counts.

    Attributes:
        completions: The number of indexes.
        completed: The indexes that have succeeded.
        failed: The indexes that are not tried again.
        active: By index, the keys of the active pods; -1 is for pods without an index.
        surplus: The number of active pods that have no index, a wrong one, or that of
            another active pod.
    """

    __slots__ = (
        "_free",
        "_next",
        "_taken",
        "active",
        "completed",
        "completions",
        "failed",
        "surplus",
    )

    def __init__(self, job: Job) -> None:
        self.completions = limit = job.spec.completions or 0
        self.completed = IndexRanges(job.status.completed_indexes, limit)
        self.failed = IndexRanges(job.status.failed_indexes or "", limit)
        self.active: dict[int, dict[str, None]] = {}
        self._taken: dict[int, int] = {}
        self._free: list[int] = []
        self._next = 0
        self.surplus = 0

    def enter(self, pod: Pod) -> None:
        """Note that a pod has become active."""
        index = self._active_index(pod)
        keys = self.active.setdefault(index, {})
        # Each pod beyond the first of an index is too many, and so is each pod without
        # a valid index.
        self.surplus += bool(keys) or not self._is_valid(index)
        keys[pod.key] = None

    def leave(self, pod: Pod) -> None:
        """Note that a pod is no longer active."""
        index = self._active_index(pod)
        keys = self.active[index]
        del keys[pod.key]
        self.surplus -= bool(keys) or not self._is_valid(index)
        if not keys:
            del self.active[index]

    def take(self, index: int) -> None:
        """Note that a pod keeps its index from others."""
        self._taken[index] = self._taken.get(index, 0) + 1

    def free(self, index: int) -> None:
        """Note that a pod no longer keeps its index from others."""
        count = self._taken.pop(index) - 1
        if count:
            self._taken[index] = count
        else:
            # A heap, since the lowest free index is used first
            # (``firstPendingIndexes``).
            heapq.heappush(self._free, index)

    def has(self, pod: Pod) -> bool:
        """Return whether a pod has one of the indexes of the Job."""
        index = index_of(pod)
        return index is not None and index < self.completions

    def add_completed(self, index: int) -> None:
        """Note that an index has succeeded, if the Job has it."""
        if index < self.completions:
            self.completed.add(index)

    def is_done(self, index: int) -> bool:
        """Return whether an index needs no more pods."""
        return index in self.completed or index in self.failed

    def lowest_open(self, count: int) -> list[int]:
        """Return the lowest indexes that need a pod, up to a number."""
        indexes: list[int] = []
        for index in self._open():
            if len(indexes) == count:
                # The generator has taken one index too many from the heap.
                heapq.heappush(self._free, index)
                break
            indexes.append(index)
        for index in indexes:
            # Still free until a pod takes it, as its creation may fail.
            heapq.heappush(self._free, index)
        return indexes

    def _open(self) -> Iterator[int]:
        last = -1
        while self._free:
            index = heapq.heappop(self._free)
            # An index may be in the heap several times, as each failed creation leaves
            # it there.
            is_new = index != last and index < self.completions
            if is_new and index not in self._taken and not self.is_done(index):
                last = index
                yield index
        # Indexes that no pod has had are not in the heap: a Job may have millions of
        # them.
        while (index := self._skip()) < self.completions:
            self._next = index + 1
            yield index

    def _skip(self) -> int:
        """Return the first index that no pod has ever had and that is not done."""
        index = self._next
        while index < self.completions:
            # Jumps over whole ranges: step by step, a Job that is nearly done would
            # take long at each sync.
            end = self.completed.end_of(index) or self.failed.end_of(index)
            if end is not None:
                index = end
            elif index in self._taken:
                index += 1
            else:
                break
        return index

    def _is_valid(self, index: int) -> bool:
        return 0 <= index < self.completions

    @staticmethod
    def _active_index(pod: Pod) -> int:
        index = index_of(pod)
        return -1 if index is None else index


def index_of(pod: Pod) -> int | None:
    """Return the index of an Indexed Job that a pod is for."""
    return parse_index(pod.metadata.annotations.get(INDEX, ""))


def failure_count(pod: Pod, *annotations: str) -> int:
    """Return how many earlier pods of its index have failed, by its annotations.

    Args:
        pod: The pod.
        annotations: `FAILURES` or `IGNORED_FAILURES`; by default the sum of both.
    """
    values = pod.metadata.annotations
    texts = [values.get(key, "") for key in annotations or (FAILURES, IGNORED_FAILURES)]
    return sum(parse_index(text) or 0 for text in texts)
