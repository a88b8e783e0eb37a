"""The line of waiting pods, with one pod at its head.

Only the pod at the head, and pods that it lets pass, leave PreEnqueue. All others are
gated, so that a change of the cluster costs no attempt for each of them.

With Kubernetes' feature gate GenericWorkload, a PodGroup is one entry of the line. It
stays at the head until all of its pods that have arrived have nodes.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from quaymaster import Handle, Pod, Status
from quaymaster.hookspecs import SortKey

from quaymaster_order.args import HeadOfLineArgs
from quaymaster_order.gangs import Gangs
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
        allowed: The uid of the pod that may pass the head, or empty. No PodGroup
            passes it.
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
        # Waiting jobs by the uid of the pod, or by the key of the PodGroup.
        self._waiting: dict[str, BatchJob] = {}
        self._gangs = Gangs(handle)
        # Uid -> the job of a pod that has a node, until it is bound: it may lose it.
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
        return self._name(job.pod) in self._waiting

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
        name = self._name(pod)
        is_new = name not in self._waiting and pod.uid not in self._placed
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
        return self._is_head(pod) or pod.uid == self.allowed

    def rank(self, pod: Pod) -> tuple[int]:
        """Return the sort key of a pod that may be tried: the head comes first.

        The queue compares tuples of numbers fastest.
        """
        return (_HEAD if self._is_head(pod) else _BEHIND,)

    def place(self, pod: Pod) -> Status | None:
        """Note that a pod has a node; reject it if it is not its turn."""
        if not self.is_open(pod):
            # The head has changed since this pod left PreEnqueue.
            return self._behind_head()
        name = self._name(pod)
        job = self._waiting.get(name)
        if job is not None:
            self._placed[pod.uid] = self._gangs.member(pod) or job
            rest = self._gangs.leave(pod)
            if rest is not None:
                self._replace(job, rest)
                return None
            del self._waiting[name]
        self._leave(name)
        return None

    def replace(self, pod: Pod) -> None:
        """Take back a pod that has lost its node before it was bound."""
        job = self._placed.pop(pod.uid, None)
        if job is None:
            return
        if self._gangs.key(pod):
            # All pods of a group that fit get their nodes at its turn.
            self._take_head(self._join(job))
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
            self._forget(pod)
            if self.head is not None and self._gangs.key(self.head.pod):
                # A failed attempt for a group wakes it again and again, so that it may
                # be backing off when there is room.
                self.retry_head()
        elif old is not None and old.uid != new.uid:
            self._forget(old)
        else:
            job = self._gangs.member(new) or self._waiting.get(new.uid)
            if job is not None:
                self._update(job, new)

    def _forget(self, pod: Pod) -> None:
        self._placed.pop(pod.uid, None)
        name = self._name(pod)
        job = self._waiting.get(name)
        if job is None or (self._gangs.key(pod) and not self._gangs.member(pod)):
            return
        rest = self._gangs.leave(pod)
        if rest is not None:
            self._replace(job, rest)
        else:
            del self._waiting[name]
            self._leave(name)

    def _update(self, job: BatchJob, pod: Pod) -> None:
        """Replace the job of a pod that has changed."""
        if not has_other_key(job.pod, pod):
            return
        newer = BatchJob.of(pod, job.number, self._started, job.created)
        if self._gangs.key(pod):
            self._join(newer)
        else:
            self._replace(job, newer)

    def _join(self, job: BatchJob) -> BatchJob:
        """Add a pod to its PodGroup; return the job of the group."""
        before = self._waiting.get(self._name(job.pod))
        whole = self._gangs.join(job)
        self._replace(before, whole)
        return whole

    def _replace(self, job: BatchJob | None, newer: BatchJob) -> None:
        self._put(newer)
        # Identity: the head is the object that the line keeps.
        if job is not None and self.head is job:
            self.head = newer

    def _add(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod; None if the pod is not for this line."""
        job = self._waiting.get(self._name(pod))
        is_gang = bool(self._gangs.key(pod))
        if job is not None and not (is_gang and self._gangs.member(pod) is None):
            return job
        if pod.spec.scheduling_gates:
            return None
        self._numbers += 1
        now = self._handle.clock.now()
        own = BatchJob.of(pod, self._numbers, self._started, now)
        if is_gang:
            return self._join(own)
        self._put(own)
        return own

    def _put(self, job: BatchJob) -> None:
        self._waiting[self._name(job.pod)] = job
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

    def _leave(self, name: str) -> None:
        """Note that an entry has left the line."""
        if self.allowed == name:
            self.allowed = ""
        if self.head is not None and self._name(self.head.pod) == name:
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
        while (
            heap and self._waiting.get(self._name(heap[0][-1].pod)) is not heap[0][-1]
        ):
            heapq.heappop(heap)
        return heap[0][-1] if heap else None

    def _key(self, job: BatchJob, now: float) -> SortKey:
        """Return the key of a job: higher priorities come first, as in Kubernetes."""
        return -job.pod.priority, self._policy.key(job, now, self._usage)

    def _name(self, pod: Pod) -> str:
        """Return the name of the entry of a pod: its uid, or the key of its group."""
        return self._gangs.key(pod) or pod.uid

    def _is_head(self, pod: Pod) -> bool:
        head = self.head
        return head is not None and self._name(head.pod) == self._name(pod)

    def _behind_head(self) -> Status:
        head = self.head
        if head is None:
            name = "the next pod"
        elif key := self._gangs.key(head.pod):
            name = f"pod group {key}"
        else:
            name = f"pod {head.pod.key}"
        return Status.unschedulable(f"waits behind {name}")
