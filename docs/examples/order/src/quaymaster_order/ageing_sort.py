"""AgeingSort: the order of the queue follows the time, or the usage of accounts."""

from typing import ClassVar

from quaymaster import Handle, Pod, QueuedPodInfo, hookimpl
from quaymaster.hookspecs import SortKey

from quaymaster_order.args import AgeingSortArgs
from quaymaster_order.jobs import BatchJob, has_other_key
from quaymaster_order.policies import policy_of
from quaymaster_order.usage import Usage, account_by

__all__ = ["AgeingSort"]


class AgeingSort:
    """Sorts the queue by a policy, and again as long as pods wait.

    A pod that does not fit is passed by others, as in kube-scheduler.
    """

    Args: ClassVar[type[AgeingSortArgs]] = AgeingSortArgs
    reads = ()
    writes = ()

    def __init__(self, args: AgeingSortArgs, handle: Handle) -> None:
        self._handle = handle
        self._policy = policy_of(args.order_by)
        self._interval = args.interval.total_seconds()
        self._started = handle.clock.now()
        half_life = args.half_life.total_seconds() or float("inf")
        account_of = account_by(self._policy.account, args.account_label)
        self._usage = Usage(account_of, args.resource, half_life)
        if self._policy.account:
            self._usage.follow(handle)
        # A key stays the same until the queue has to sort the pod again.
        self._keys: dict[str, tuple[BatchJob, SortKey]] = {}
        self._numbers = 0
        self._is_due = False
        handle.informers.on_change(Pod, self._changed)

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> SortKey:
        pod = queued.pod
        entry = self._keys.get(pod.uid)
        if entry is not None:
            return entry[1]
        self._numbers += 1
        now = self._handle.clock.now()
        job = BatchJob.of(pod, self._numbers, self._started, now)
        key = self._key(job, now)
        self._keys[pod.uid] = job, key
        self._expect()
        return key

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is None:
            return
        is_gone = new is None or new.node_name or new.uid != old.uid
        if is_gone or (new is not None and has_other_key(old, new)):
            self._keys.pop(old.uid, None)

    def _expect(self) -> None:
        """Set the timer, if the order ages and pods wait."""
        if self._policy.ages and self._keys and not self._is_due:
            self._is_due = True
            self._handle.clock.call_later(
                self._interval, self._refresh, background=True
            )

    def _refresh(self) -> None:
        self._is_due = False
        now = self._handle.clock.now()
        changed = []
        for uid, (job, key) in self._keys.items():
            newer = self._key(job, now)
            if newer != key:
                self._keys[uid] = job, newer
                changed.append(job.pod)
        if changed:
            self._handle.changed(pods=changed)
        self._expect()

    def _key(self, job: BatchJob, now: float) -> SortKey:
        return -job.pod.priority, self._policy.key(job, now, self._usage), job.number
