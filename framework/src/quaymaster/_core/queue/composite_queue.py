"""The scheduling queue with trees of groups: the feature gate CompositePodGroup.

Mirrors ``AddCompositePodGroup`` and its siblings (Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``).
"""

from typing import ClassVar

from quaymaster._api.objects.groups import CompositePodGroup, GroupObject
from quaymaster._core.queue.group_queue import GroupQueue
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.queue.queued_tree import QueuedTree
from quaymaster._core.state.group_forest import FlatForest, TreeForest

__all__ = ["CompositeQueue"]


class CompositeQueue(GroupQueue):
    """A queue in which the pods of a tree of groups are tried as a whole.

    A pod is incomplete while its group, or a group above it, does not exist.

    For the arguments see `SchedulingQueue`.
    """

    _forest_type: ClassVar[type[FlatForest]] = TreeForest

    def _record_of(self, root: GroupObject, first: QueuedPod) -> QueuedGroup:
        if isinstance(root, CompositePodGroup):
            return QueuedTree.of(root, first)
        return super()._record_of(root, first)
