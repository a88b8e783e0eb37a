"""The queue's record of a tree of groups, whose root is a CompositePodGroup.

Mirrors ``QueuedPodGroupInfo`` with ``Children`` (Kubernetes v1.37,
``pkg/scheduler/framework/types.go``).
"""

from typing import Any

from quaymaster._core.queue.queued_group import QueuedGroup, order_in_group
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["QueuedTree"]


class QueuedTree(QueuedGroup, eq=False, kw_only=True):
    """The queued pods of all groups of a tree: one record, as of one group.

    The pods of a PodGroup stand together, in the order in which they are tried. The
    groups are in the order of their keys; upstream's order is that of a map.
    """

    @staticmethod
    def order(queued: QueuedPod) -> tuple[Any, ...]:
        """See `QueuedGroup.order`."""
        return queued.pod.group_key, order_in_group(queued)
