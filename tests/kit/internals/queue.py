"""What tests see of ``quaymaster._queue``."""

from quaymaster._queue.backoff import BackoffPolicy
from quaymaster._queue.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
)
from quaymaster._queue.in_flight import InFlightPods
from quaymaster._queue.nominator import Nominator
from quaymaster._queue.pod_heap import PodHeap
from quaymaster._queue.profile import CompiledProfiles, QueueProfile
from quaymaster._queue.queued_pod import QueuedPod
from quaymaster._queue.scheduling_queue import SchedulingQueue
from quaymaster._queue.sort_keys import SortKeys
from quaymaster._queue.sub_queues import SubQueues

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
    "QueuedPod",
    "SchedulingQueue",
    "SortKeys",
    "SubQueues",
]
