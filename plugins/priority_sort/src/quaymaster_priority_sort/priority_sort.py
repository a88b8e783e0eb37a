"""Order the queue by priority, then by time of arrival.

The pod with the highest priority is tried first; among equal priorities, the pod that
was queued first. After a failure, the time of the failure counts.

Mirrors ``PrioritySort`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/queuesort/priority_sort.go``).
"""

from quaymaster import Handle, QueuedPodInfo, hookimpl

__all__ = ["PrioritySort"]


class PrioritySort:
    """Sorts pods by descending priority and ascending timestamp."""

    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Create the plugin, which uses neither arguments nor the framework."""

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        # Like `Pod.priority`, without the call: this runs for each pod.
        return -(queued.pod.spec.priority or 0), queued.timestamp
