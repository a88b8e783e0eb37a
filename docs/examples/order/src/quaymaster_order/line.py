"""The line of waiting pods, with one pod at its head.

Only the pod at the head, and pods that it lets pass, leave PreEnqueue. All others are
gated, so that a change of the cluster costs no attempt for each of them.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from quaymaster import Handle, Pod, Status
from quaymaster.hookspecs import SortKey

from quaymaster_order.args import HeadOfLineArgs
from quaymaster_order.jobs import BatchJob, has_other_key
from quaymaster_order.policies import policy_of
from quaymaster_order.usage import Usage, account_by

__all__ = ["Line"]

_HEAD: Final = 0
_BEHIND: Final = 1


class Line:
    """Waiting pods of one profile, in the order of a policy.

    Args:
        args: The order, and whether the head keeps its place.
        handle: The handle of the plugin.
        on_new_head: Called when another pod is at the head, or none.

    Attributes:
        head: The job at the head; None if no pod waits.
        allowed: The uid of the pod that may pass the head, or empty.
    """

    def __init__(
        self,
        args: HeadOfLineArgs,
        handle: Handle,
        on_new_head: Callable[[], None] = lambda: None,
    ) -> None:
        self._handle = handle
        self._policy = policy_of(args.order_by)
        self._keeps_head = args.keep_head
        self._on_new_head = on_new_head
        self._started = handle.clock.now()
        half_life = args.half_life.total_seconds() or float("inf")
        account_of = account_by(self._policy.account, args.account_label)
        self._usage = Usage(account_of, args.resource, half_life)
        if self._policy.account:
            self._usage.follow(handle)
        self._has_begun = False
        self._numbers = 0
        self._waiting: dict[str, BatchJob] = {}
        # Jobs that have a node, until they are bound: they may lose it again.
        self._placed: dict[str, BatchJob] = {}
        # Keys that do not age are computed once. Entries of jobs that no longer wait
        # are dropped when they are on top.
        self._heap: list[tuple[SortKey, int, int, BatchJob]] = []
        self._tickets = itertools.count()
        self.head: BatchJob | None = None
        self.allowed = ""
        handle.informers.on_change(Pod, self._changed)

    def begin(self) -> None:
        """Choose the first head: all pods that exist have arrived."""
        self._has_begun = True
        if self.head is None:
            self._advance()

    def waits(self, job: BatchJob) -> bool:
        """Whether a job still waits."""
        return job.pod.uid in self._waiting

    def behind(self) -> Iterator[BatchJob]:
        """Return the waiting jobs apart from the head, in the order of arrival."""
        head = self.head
        # Identity: the head is the object that the line keeps.
        return (job for job in self._waiting.values() if job is not head)

    def ordered(self, jobs: Iterable[BatchJob]) -> list[BatchJob]:
        """Return jobs in the order of the policy."""
        now = self._handle.clock.now()
        return sorted(jobs, key=lambda job: (self._key(job, now), job.number))

    # Hooks --------------------------------------------------------------------------

    def gate(self, pod: Pod) -> tuple[Status | None, BatchJob | None]:
        """Decide whether a pod may be tried.

        Returns:
            The status for PreEnqueue; and the job, if it has just arrived and is gated.
        """
        if pod.group_key:
            return None, None
        is_new = pod.uid not in self._waiting and pod.uid not in self._placed
        job = self._add(pod)
        if job is None:
            return None, None
        if self._has_begun:
            self._arrive(job)
        if self.is_open(pod):
            return None, None
        return self._behind_head(), job if is_new else None

    def is_open(self, pod: Pod) -> bool:
        """Whether a pod is at the head, or may pass it."""
        head = self.head
        is_head = head is not None and head.pod.uid == pod.uid
        return is_head or pod.uid == self.allowed or bool(pod.group_key)

    def rank(self, pod: Pod) -> tuple[int]:
        """Return the sort key of a pod that may be tried: the head comes first.

        The queue compares tuples of numbers fastest.
        """
        head = self.head
        is_head = head is not None and head.pod.uid == pod.uid
        return (_HEAD if is_head else _BEHIND,)

    def place(self, pod: Pod) -> Status | None:
        """Note that a pod has a node; reject it if it is not its turn."""
        if not self.is_open(pod):
            # The head has changed since this pod left PreEnqueue.
            return self._behind_head()
        job = self._waiting.pop(pod.uid, None)
        if job is not None:
            self._placed[pod.uid] = job
        self._leave(pod.uid)
        return None

    def replace(self, pod: Pod) -> None:
        """Take back a pod that has lost its node before it was bound."""
        job = self._placed.pop(pod.uid, None)
        if job is None:
            return
        self._put(job)
        if self.head is None:
            self._advance()

    def open(self, job: BatchJob) -> None:
        """Let a job pass the head, and have it tried."""
        self.allowed = job.pod.uid
        self._handle.activate([job.pod])

    def retry_head(self) -> None:
        """Have the head tried again."""
        if self.head is not None:
            self._handle.activate([self.head.pod])

    # Arrivals and departures --------------------------------------------------------

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is None or new.node_name or new.is_terminating or new.is_finished:
            pod = new or old
            assert pod is not None, "a change has an object"
            self._forget(pod.uid)
        elif old is not None and old.uid != new.uid:
            self._forget(old.uid)
        elif new.uid in self._waiting:
            self._update(new)

    def _forget(self, uid: str) -> None:
        self._placed.pop(uid, None)
        if self._waiting.pop(uid, None) is not None:
            self._leave(uid)

    def _update(self, pod: Pod) -> None:
        """Replace the job of a pod that has changed."""
        job = self._waiting[pod.uid]
        if not has_other_key(job.pod, pod):
            return
        newer = BatchJob.of(pod, job.number, self._started, job.created)
        self._put(newer)
        # Identity: the head is the object that the line keeps.
        if self.head is job:
            self.head = newer

    def _add(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod; None if the pod is not for this line."""
        job = self._waiting.get(pod.uid)
        if job is not None:
            return job
        if pod.spec.scheduling_gates:
            return None
        self._numbers += 1
        now = self._handle.clock.now()
        job = BatchJob.of(pod, self._numbers, self._started, now)
        self._put(job)
        return job

    def _put(self, job: BatchJob) -> None:
        self._waiting[job.pod.uid] = job
        if not self._policy.ages:
            now = self._handle.clock.now()
            entry = self._key(job, now), job.number, next(self._tickets), job
            heapq.heappush(self._heap, entry)

    def _arrive(self, job: BatchJob) -> None:
        """Make a job the head if there is none, or if it comes before it."""
        head = self.head
        if head is None:
            self._take_head(job)
        # Identity: the head is the object that the line keeps.
        elif not self._keeps_head and head is not job:
            now = self._handle.clock.now()
            first = self._key(job, now), job.number
            if first < (self._key(head, now), head.number):
                self._take_head(job)

    def _leave(self, uid: str) -> None:
        """Note that a pod has left the line."""
        if self.allowed == uid:
            self.allowed = ""
        if self.head is not None and self.head.pod.uid == uid:
            self._advance()

    def _advance(self) -> None:
        """Choose the next head, and have it tried."""
        self.head = None
        first = self._first()
        if first is None:
            self._on_new_head()
            return
        self._take_head(first)
        self._handle.activate([first.pod])

    def _take_head(self, job: BatchJob) -> None:
        self.head = job
        self.allowed = ""
        self._on_new_head()

    def _first(self) -> BatchJob | None:
        if self._policy.ages:
            return next(iter(self.ordered(self._waiting.values())), None)
        heap = self._heap
        # Identity: an entry is stale if its job was replaced, or no longer waits.
        while heap and self._waiting.get(heap[0][-1].pod.uid) is not heap[0][-1]:
            heapq.heappop(heap)
        return heap[0][-1] if heap else None

    def _key(self, job: BatchJob, now: float) -> SortKey:
        """Return the key of a job: higher priorities come first, as in Kubernetes."""
        return -job.pod.priority, self._policy.key(job, now, self._usage)

    def _behind_head(self) -> Status:
        head = self.head
        name = "the next pod" if head is None else f"pod {head.pod.key}"
        return Status.unschedulable(f"waits behind {name}")
