"""Chooses the scheduling queue of groups for the feature gates of a Kubernetes."""

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.queue.composite_queue import CompositeQueue
from quaymaster._core.queue.group_queue import GroupQueue

__all__ = ["group_queue_type"]


def group_queue_type(kubernetes: Kubernetes) -> type[GroupQueue]:
    """Return the class of the queue.

    Args:
        kubernetes: The version, whose feature gate GenericWorkload is on.
    """
    has_trees = kubernetes.enabled("CompositePodGroup")
    return CompositeQueue if has_trees else GroupQueue
