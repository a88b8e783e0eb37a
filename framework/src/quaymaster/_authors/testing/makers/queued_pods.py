"""A maker of pods in the scheduling queue."""

from quaymaster._api.objects import Pod
from quaymaster._core.contract.queueing import QueuedPodInfo
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["make_queued_pod"]


def make_queued_pod(
    pod: Pod,
    *,
    timestamp: float = 0.0,
    initial_attempt_timestamp: float | None = None,
    attempts: int = 0,
) -> QueuedPodInfo:
    """Make the argument of ``queue_sort``: a pod in the queue.

    Args:
        pod: The pod itself.
        timestamp: When it entered the queue or last failed, seconds since the epoch.
        initial_attempt_timestamp: When it first became active.
        attempts: How often it has been tried.
    """
    return QueuedPod(
        pod,
        timestamp,
        pod.key,
        initial_attempt_timestamp=initial_attempt_timestamp,
        attempts=attempts,
    )
