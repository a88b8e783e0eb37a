"""What tests see of ``quaymaster._core.queue``."""

from collections.abc import Callable

from quaymaster._core.queue.backoff import BackoffPolicy
from quaymaster._core.queue.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
)
from quaymaster._core.queue.in_flight import InFlightPods
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.pod_heap import PodHeap
from quaymaster._core.queue.profile import CompiledProfiles, QueueProfile
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.rules import QueueRules
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.queue.sort_keys import SortKeys
from quaymaster._core.queue.sub_queues import SubQueues

__all__ = [
    "ASSIGNED_POD_ADD",
    "ASSIGNED_POD_DELETE",
    "FORCE_ACTIVATE",
    "NODE_ADD",
    "UNSCHEDULABLE_TIMEOUT",
    "BackoffPolicy",
    "CompiledProfiles",
    "InFlightPods",
    "Nominator",
    "PodHeap",
    "QueueProfile",
    "QueueRules",
    "QueuedPod",
    "SchedulingQueue",
    "SortKeys",
    "SubQueues",
    "active_entries",
    "backing_off",
    "replace_backoff",
    "sub_queues_of",
]


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
