"""What tests see of ``quaymaster._core.queue``."""

from collections.abc import Callable, Iterable, Sequence

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.cluster_events import ClusterEvent
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.composite_queue import CompositeQueue
from quaymaster._core.queue.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
)
from quaymaster._core.queue.group_queue import GroupQueue
from quaymaster._core.queue.hints import Question, Strategy
from quaymaster._core.queue.in_flight import InFlightPods
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.pod_heap import PodHeap
from quaymaster._core.queue.profile import CompiledProfiles, QueueProfile
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.rules import QueueRules
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.queue.sort_keys import SortKeys
from quaymaster._core.queue.sub_queues import SubQueues
from quaymaster._core.queue.wait_starts import WaitStarts

__all__ = [
    "ASSIGNED_POD_ADD",
    "ASSIGNED_POD_DELETE",
    "FORCE_ACTIVATE",
    "NODE_ADD",
    "UNSCHEDULABLE_TIMEOUT",
    "BackoffPolicy",
    "CompiledProfiles",
    "CompositeQueue",
    "GroupQueue",
    "InFlightPods",
    "Nominator",
    "PlainFlushQueue",
    "PodHeap",
    "QueueName",
    "QueueProfile",
    "QueueRules",
    "QueuedGroup",
    "QueuedPod",
    "SchedulingQueue",
    "SortKeys",
    "Strategy",
    "SubQueues",
    "WaitStarts",
    "active_entries",
    "backing_off",
    "flush_backoff",
    "flush_gated",
    "flush_groups",
    "flush_unschedulable",
    "forget_hints",
    "put",
    "put_group",
    "put_pending",
    "queued_groups",
    "replace_backoff",
    "start_attempts",
    "strategy_for",
    "sub_queues_of",
    "take_over",
]


class PlainFlushQueue(SchedulingQueue):
    """A queue whose flush reads all waiting pods, and moves each as an event does."""

    def _flush_unschedulable(self, limit: float) -> None:
        pods = self._queues.unschedulable
        late = [queued for queued in pods if queued.unhelped_since < limit]
        for queued in late:
            queued.was_flushed = True
        if late:
            self._wake(late, UNSCHEDULABLE_TIMEOUT, None, None)
        if self._flush_gated_pods:
            for queued in late:
                if queued.is_gated:
                    queued.was_flushed = False
                    queued.gate_called_at = self._clock.now()
        if pods:
            oldest = min(queued.unhelped_since for queued in pods)
            self._queues.flushes.expect_unschedulable(oldest)


def sub_queues_of(queue: SchedulingQueue) -> SubQueues:
    """Return the sub-queues of a queue."""
    return queue._queues


def active_entries(queue: SchedulingQueue) -> int:
    """Return the size of the heaps of active pods, with the removed entries."""
    return sum(map(len, queue._queues.active._heaps))


def backing_off(queues: SubQueues) -> Callable[[QueuedPod, str], None]:
    """Return the function that puts a pod into the backoff queue."""
    return queues._to_backoff


def replace_backoff(
    queues: SubQueues, callback: Callable[[QueuedPod, str], None]
) -> None:
    """Replace that function by a callback."""
    vars(queues).update(_to_backoff=callback)


def put(queue: SchedulingQueue, queued: QueuedPod, where: QueueName) -> None:
    """Put a record into a queue, without the checks of a move."""
    queues = queue._queues
    queues._enter(queued, where)
    sort_key, group, _ = queues._profiles[queued.pod.spec.scheduler_name]
    if where is QueueName.ACTIVE:
        queues.active.push(queued, sort_key(queued), group)
    elif where is QueueName.BACKOFF:
        expiration = queues._policy.expiration(queued)
        queues.backoff.push(queued, (expiration or 0.0, sort_key(queued)), group)
    elif where is QueueName.ERROR_BACKOFF:
        expiration = queues._policy.expiration(queued)
        queues.error_backoff.push(queued, expiration or 0.0)
    else:
        queues.unschedulable.put(queued)


def put_group(queue: GroupQueue, group: QueuedGroup, where: QueueName) -> None:
    """Put the record of a group into a queue, without the checks of a move."""
    groups = queue._groups
    groups.pods.update((queued.key, queued) for queued in group.pods)
    if where is QueueName.UNSCHEDULABLE:
        groups._hold_back(group, "", False)
        return
    groups._enter(group, where)
    if where is QueueName.ACTIVE:
        groups.active.push(group, *groups._place(group))
    else:
        expiration = groups._policy.expiration(group, len(group.pods))
        groups.backoff.push(group, expiration or 0.0)


def queued_groups(queue: GroupQueue) -> Sequence[QueuedGroup]:
    """Return the records of all queued groups."""
    return list(queue._groups.groups.values())


def flush_groups(queue: GroupQueue) -> None:
    """Make the groups active whose backoff is over."""
    queue._groups._flush_backoff()


def flush_gated(queue: GroupQueue, limit: float) -> None:
    """Ask the gates of the groups that are gated since before ``limit``."""
    queue._flush_gated(limit)


def put_pending(queue: GroupQueue, queued: QueuedPod) -> None:
    """Treat a pod as one that waits for the end of the attempt with its group."""
    queue._pending.add(queued)


def take_over(queue: GroupQueue, other: GroupQueue) -> None:
    """Give a queue the objects of another, and its pods outside of groups."""
    for name in ("_forest", "_incomplete", "_pending", "_in_attempt"):
        setattr(queue, name, getattr(other, name))


def start_attempts(queue: SchedulingQueue, uids: Iterable[str]) -> None:
    """Treat pods as popped."""
    for uid in uids:
        queue._in_flight.start(uid)


def flush_backoff(queue: SchedulingQueue) -> None:
    """Make the pods active whose backoff is over."""
    queue._queues._flush_backoff()


def flush_unschedulable(queue: SchedulingQueue, limit: float) -> None:
    """Wake the pods that are unschedulable since before a time."""
    queue._flush_unschedulable(limit)


def strategy_for(
    queue: SchedulingQueue,
    queued: QueuedPod,
    event: ClusterEvent,
    old: ApiObject | None,
    new: ApiObject | None,
) -> Strategy:
    """Return how an event moves a pod."""
    return Question(queue._hints, event, old, new).strategy(queued)


def forget_hints(queue: SchedulingQueue) -> None:
    """Remove the registrations of all profiles, as if the queue had no profile."""
    queue._hints._profiles.clear()
