"""The line of waiting pods, with one pod at its head.

Only the pod at the head, and pods that it lets pass, leave PreEnqueue. All others are
gated, so that a change of the cluster costs no attempt for each of them.

With Kubernetes' feature gate GenericWorkload, a PodGroup is one entry of the line, once
enough of its pods exist. It stays at the head until all of them have nodes.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from quaymaster import Handle, Pod, Status
from quaymaster.hookspecs import SortKey
from quaymaster.objects import PodGroup

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
        # The uids of pods that have been tried and wait for their next attempt: they
        # are not gated, and the queue retries them after their backoff.
        self._tried: set[str] = set()
        # Uid -> the job of a pod that has a node, until it is bound: it may lose it.
        self._placed: dict[str, BatchJob] = {}
        # Keys that do not age are computed once. Entries of jobs that no longer wait
        # are dropped when they are on top.
        self._heap: list[tuple[SortKey, int, int, BatchJob]] = []
        self._tickets = itertools.count()
        self.head: BatchJob | None = None
        # The name of the entry that may pass the head, or empty.
        self._allowed = ""
        handle.informers.on_change(Pod, self._changed)
        if self._gangs.exist:
            handle.informers.on_change(PodGroup, self._group_changed)

    def begin(self) -> None:
        """Choose the first head: all pods that exist have arrived."""
        self._has_begun = True
        if self.head is None:
            self._advance()

    def newest(self, job: BatchJob) -> BatchJob | None:
        """Return a job as it is now; None if it does not wait any longer."""
        return self._waiting.get(self._name(job.pod))

    def member(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod of a PodGroup; None for other pods."""
        return self._gangs.member(pod)

    def least(self, job: BatchJob) -> int:
        """Return how many pods of a job have to start together."""
        return self._gangs.least(self._gangs.key(job.pod)) if job.members else 1

    def is_in_group(self, pod: Pod) -> bool:
        """Whether a pod is in a PodGroup."""
        return bool(self._gangs.key(pod))

    def is_head(self, pod: Pod) -> bool:
        """Whether a pod is at the head, or its PodGroup is."""
        head = self.head
        return head is not None and self._name(head.pod) == self._name(pod)

    def is_passing(self, pod: Pod) -> bool:
        """Whether a pod or its PodGroup may pass the head."""
        return self._allowed == self._name(pod)

    @property
    def has_passed(self) -> bool:
        """Whether the job that might pass the head does not wait any longer."""
        return not self._allowed

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
        self._tried.discard(pod.uid)
        return self._behind_head(), job if is_new else None

    def is_open(self, pod: Pod) -> bool:
        """Whether a pod is at the head, or may pass it."""
        return self.is_head(pod) or self.is_passing(pod)

    def rank(self, pod: Pod) -> tuple[int]:
        """Return the sort key of a pod that may be tried: the head comes first.

        The queue compares tuples of numbers fastest.
        """
        return (_HEAD if self.is_head(pod) else _BEHIND,)

    def place(self, pod: Pod) -> Status | None:
        """Note that a pod has a node; reject it if it is not its turn."""
        if not self.is_open(pod):
            # The head has changed since this pod left PreEnqueue.
            return self._behind_head()
        if self._gangs.key(pod):
            # The nodes of a group are tried first, and each pod loses its node again.
            # So its pods leave the line when they are bound.
            return None
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
        self._tried.add(pod.uid)
        if self.head is None:
            self._advance()

    def let(self, job: BatchJob | None) -> None:
        """Let a job pass the head, or none."""
        self._allowed = "" if job is None else self._name(job.pod)

    def open(self, job: BatchJob) -> None:
        """Let a job pass the head, and have it tried."""
        self.let(job)
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
            self._forget(pod, is_gone=new is None or new.is_finished)
            has_ended = old is not None and old.node_name and not old.is_finished
            if has_ended and (new is None or new.is_finished):
                self._retry_group()
        elif old is not None and old.uid != new.uid:
            self._forget(old)
        else:
            job = self._gangs.member(new) or self._waiting.get(new.uid)
            if job is not None:
                self._update(job, new)

    def _retry_group(self) -> None:
        """Have a PodGroup at the head tried again: there is more room.

        After each failed attempt a group backs off, whatever happens meanwhile.
        """
        if self.head is not None and self.head.members:
            self.retry_head()

    def _forget(self, pod: Pod, *, is_gone: bool = True) -> None:
        """Remove a pod that does not wait any longer.

        Args:
            pod: The pod.
            is_gone: Whether it was deleted or has ended, and is not just bound.
        """
        self._placed.pop(pod.uid, None)
        self._tried.discard(pod.uid)
        name = self._name(pod)
        job = self._waiting.get(name)
        is_member = bool(self._gangs.key(pod))
        if job is None or (is_member and not self._gangs.member(pod)):
            return
        rest = self._gangs.leave(pod)
        without = pod.uid if is_gone else ""
        if rest is not None and self._gangs.is_complete(name, without=without):
            self._replace(job, rest)
        else:
            self._remove(name)

    def _remove(self, name: str) -> None:
        """Remove an entry from the line."""
        self._gangs.dissolve(name)
        del self._waiting[name]
        self._leave(name)

    def _group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Remove a PodGroup that was deleted, or that has too few pods now.

        If it is complete later, it comes back with its first pod in PreEnqueue.
        """
        group = new or old
        assert group is not None, "a change has an object"
        is_complete = new is not None and self._gangs.is_complete(group.key, group=new)
        if group.key in self._waiting and not is_complete:
            self._remove(group.key)

    def _update(self, job: BatchJob, pod: Pod) -> None:
        """Replace the job of a pod that has changed."""
        if not has_other_key(job.pod, pod):
            return
        newer = BatchJob.of(pod, job.number, self._started, job.created)
        name = self._gangs.key(pod)
        if name:
            job, newer = self._waiting[name], self._gangs.join(name, [newer])
        self._replace(job, newer)

    def _replace(self, job: BatchJob | None, newer: BatchJob) -> None:
        self._put(newer)
        # Identity: the head is the object that the line keeps.
        if job is not None and self.head is job:
            self.head = newer

    def _add(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod; None if the pod is not for this line."""
        job = self._waiting.get(self._name(pod))
        key = self._gangs.key(pod)
        if job is not None and not (key and self._gangs.member(pod) is None):
            return job
        if pod.spec.scheduling_gates:
            return None
        if key:
            return self._add_group(key, pod)
        own = self._job(pod)
        self._put(own)
        return own

    def _add_group(self, key: str, pod: Pod) -> BatchJob | None:
        """Add a pod of a PodGroup, with all others; return the job of the group."""
        if not self._gangs.is_complete(key):
            return None
        # All at once: the job of the group is made once, and not after each pod.
        jobs = [self._job(other) for other in self._gangs.newcomers(pod)]
        before = self._waiting.get(key)
        whole = self._gangs.join(key, jobs)
        self._replace(before, whole)
        return whole

    def _job(self, pod: Pod) -> BatchJob:
        """Return the job of a pod that has arrived."""
        self._numbers += 1
        now = self._handle.clock.now()
        return BatchJob.of(pod, self._numbers, self._started, now)

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
        if self._allowed == name:
            self._allowed = ""
        if self.head is not None and self._name(self.head.pod) == name:
            self._advance()

    def _advance(self) -> None:
        """Choose the next head, and have it tried unless it has just lost its node."""
        self.head = None
        first = self._first()
        if first is None:
            self._on_new_head()
            return
        self._take_head(first)
        if first.pod.uid not in self._tried:
            self._handle.activate([first.pod])

    def _take_head(self, job: BatchJob) -> None:
        self.head = job
        self._allowed = ""
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
        return -job.priority, self._policy.key(job, now, self._usage)

    def _name(self, pod: Pod) -> str:
        """Return the name of the entry of a pod: its uid, or the key of its group."""
        return self._gangs.key(pod) or pod.uid

    def _behind_head(self) -> Status:
        head = self.head
        if head is None:
            name = "the next pod"
        elif key := self._gangs.key(head.pod):
            name = f"pod group {key}"
        else:
            name = f"pod {head.pod.key}"
        return Status.unschedulable(f"waits behind {name}")
