"""The scheduling queue: which pod is tried next, and what wakes the others."""

from quaymaster._queue.backoff import BackoffPolicy
from quaymaster._queue.nominator import Nominator, PodLookup
from quaymaster._queue.profile import QueueProfile
from quaymaster._queue.queued_pod import QueuedPod
from quaymaster._queue.scheduling_queue import SchedulingQueue

__all__ = [
    "BackoffPolicy",
    "Nominator",
    "PodLookup",
    "QueueProfile",
    "QueuedPod",
    "SchedulingQueue",
]
