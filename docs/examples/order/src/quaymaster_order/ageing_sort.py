"""AgeingSort: the order of the queue follows the time, or the usage of accounts."""

from typing import ClassVar

from quaymaster import Handle, Pod, QueuedPodInfo, hookimpl
from quaymaster.hookspecs import SortKey

from quaymaster_order.args import AgeingSortArgs
from quaymaster_order.gangs import Gangs
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
        self._gangs = Gangs(handle)
        # The uid of a pod or the key of a PodGroup -> its job and its key, which stays
        # the same until the queue has to sort it again.
        self._keys: dict[str, tuple[BatchJob, SortKey]] = {}
        self._numbers = 0
        self._is_due = False
        handle.informers.on_change(Pod, self._changed)

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> SortKey:
        pod = queued.pod
        name = self._name(pod)
        entry = self._keys.get(name)
        if entry is not None:
            return entry[1]
        now = self._handle.clock.now()
        if self._gangs.key(pod):
            newcomers = [self._job(other, now) for other in self._gangs.newcomers(pod)]
            job = self._gangs.join(name, newcomers)
        else:
            job = self._job(pod, now)
        key = self._key(job, now)
        self._keys[name] = job, key
        self._expect()
        return key

    def _job(self, pod: Pod, now: float) -> BatchJob:
        self._numbers += 1
        return BatchJob.of(pod, self._numbers, self._started, now)

    def _name(self, pod: Pod) -> str:
        """Return the name of what is sorted: the pod, or its PodGroup."""
        return self._gangs.key(pod) or pod.uid

    def _changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None, "a change has an object"
        if self._gangs.key(pod):
            self._group_changed(pod, old, new)
            return
        if old is None:
            return
        is_gone = new is None or new.node_name or new.uid != old.uid
        if is_gone or (new is not None and has_other_key(old, new)):
            self._keys.pop(old.uid, None)

    def _group_changed(self, pod: Pod, old: Pod | None, new: Pod | None) -> None:
        """Have a PodGroup sorted again if it has other waiting pods now."""
        if old is not None and (new is None or new.node_name or new.uid != old.uid):
            self._gangs.leave(old)
        elif old is not None and new is not None:
            if not has_other_key(old, new):
                return
            self._gangs.leave(old)
        if self._keys.pop(self._name(pod), None) is not None:
            self._handle.changed(pods=[pod])

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
        for name, (job, key) in self._keys.items():
            newer = self._key(job, now)
            if newer != key:
                self._keys[name] = job, newer
                changed.append(job.pod)
        if changed:
            self._handle.changed(pods=changed)
        self._expect()

    def _key(self, job: BatchJob, now: float) -> SortKey:
        return -job.priority, self._policy.key(job, now, self._usage), job.number
