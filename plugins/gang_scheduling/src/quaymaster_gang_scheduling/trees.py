"""Whether enough groups of a tree have enough pods.

Used with the feature gate CompositePodGroup. Mirrors ``preEnqueueWithHierarchies``,
``permitPodForHierarchy``, ``isCPGTreeReady`` and ``areSameHierarchy`` (kube-scheduler
1.37.2, ``pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go``).
"""

from collections.abc import Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    EventResource,
    EventsOf,
    Handle,
    Pod,
    QueueingHint,
    Status,
    on_pod,
)
from quaymaster.objects import CompositePodGroup, PodGroup
from quaymaster_gang_scheduling.hints import needs_fewer, queue_if

__all__ = ["Trees"]

_on_unscheduled_pod = EventsOf[Pod](EventResource.UNSCHEDULED_POD)


class Trees:
    """Holds the pods of a tree back until enough of its groups can be scheduled.

    Args:
        handle: The framework, with groups.
    """

    def __init__(self, handle: Handle) -> None:
        groups = handle.pod_groups
        assert groups is not None, "the feature gate GenericWorkload is on"
        self._groups = groups

    def gate(self, pod: Pod) -> Status | None:
        """Gate a pod until enough groups of its tree have enough pods."""
        root = self._groups.root_of(pod)
        if root is None:
            return Status.unresolvable(_not_built(pod))
        if self._is_ready(root, counts_scheduled=False):
            return None
        text = f'waiting for composite pod group "{root.name}" tree to meet quorum'
        return Status.unresolvable(text)

    def ready_root(self, pod: Pod) -> PodGroup | CompositePodGroup | Status | None:
        """Return the root of a pod's tree.

        Returns:
            The root; None if too few groups have enough pods with a node; or an Error.
        """
        root = self._groups.root_of(pod)
        if root is None:
            return Status.from_error(_not_built(pod))
        return root if self._is_ready(root, counts_scheduled=True) else None

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Return the events that may complete a tree."""
        on_pod_group, on_composite = EventsOf(PodGroup), EventsOf(CompositePodGroup)
        return [
            _on_unscheduled_pod(Change.ADD, self._after_pod_added),
            on_pod.assigned(Change.ADD, self._after_pod_added),
            on_pod_group(Change.ADD, self._after_group_added),
            on_pod_group(Change.UPDATE, self._after_group_updated),
            on_composite(Change.ADD, self._after_group_added),
        ]

    def _is_ready(
        self, group: PodGroup | CompositePodGroup, *, counts_scheduled: bool
    ) -> bool:
        """Return whether a group has enough pods, or enough groups that have them."""
        if isinstance(group, CompositePodGroup):
            count = sum(
                self._is_ready(child, counts_scheduled=counts_scheduled)
                for child in self._groups.children(group)
            )
            return count >= group.min_count
        state = self._groups.get(group.key)
        if state is None:
            return False
        count = state.scheduled_count if counts_scheduled else len(state.pods)
        return count >= group.min_count

    def _after_pod_added(self, pod: Pod, _old: None, new: Pod) -> QueueingHint:
        """Queue the pod if a pod of its tree was added."""
        if not pod.group_key or not new.group_key:
            return QueueingHint.SKIP
        return self._queue_if_same(pod, self._groups.root_of(new))

    def _after_group_added(
        self, pod: Pod, _old: None, new: PodGroup | CompositePodGroup
    ) -> QueueingHint:
        """Queue the pod if a group of its tree was added."""
        return self._queue_if_same(pod, self._groups.root_above(new))

    def _after_group_updated(
        self, pod: Pod, old: PodGroup, new: PodGroup
    ) -> QueueingHint:
        """Queue the pod if a gang of its tree needs fewer pods now."""
        if not needs_fewer(old, new):
            return QueueingHint.SKIP
        return self._queue_if_same(pod, self._groups.root_above(new))

    def _queue_if_same(
        self, pod: Pod, other: PodGroup | CompositePodGroup | None
    ) -> QueueingHint:
        """Queue a pod if the root of its tree is another root, too."""
        root = self._groups.root_of(pod)
        if root is None or other is None:
            return QueueingHint.SKIP
        return queue_if(root.entity_key == other.entity_key)


def _not_built(pod: Pod) -> str:
    return f"failed to build hierarchy snapshot: a group above pod {pod.key} is missing"
