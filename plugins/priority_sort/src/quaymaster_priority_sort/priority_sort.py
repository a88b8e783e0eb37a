"""Order the queue by priority, then by time of arrival.

The pod of the highest priority is tried first; among equals, the one that was queued,
or failed last, the longest ago.

Mirrors ``PrioritySort`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/queuesort/priority_sort.go``).
"""

from quaymaster import Handle, QueuedPodInfo, hookimpl

__all__ = ["PrioritySort"]


class PrioritySort:
    """Sorts pods by falling priority and rising timestamp."""

    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Take no arguments, and need nothing of the framework."""

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        # As `Pod.priority`, without the call: this is asked for each pod.
        return -(queued.pod.spec.priority or 0), queued.timestamp
