"""Event handlers of a scheduler with groups of pods.

Mirrors Kubernetes v1.37, ``pkg/scheduler/eventhandlers.go``, with the feature gate
GenericWorkload.
"""

from collections.abc import Callable, Container
from typing import Any

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.groups import CompositePodGroup, GroupObject, PodGroup
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    resource_of,
)
from quaymaster._core.engine.effective_slices import EffectiveSlices
from quaymaster._core.engine.event_handlers import EventHandlers
from quaymaster._core.engine.progress import Progress
from quaymaster._core.queue.events import UNSCHEDULED_POD_ADD
from quaymaster._core.queue.group_queue import GroupQueue
from quaymaster._core.state.cache import Cache
from quaymaster._core.state.group_states import GroupStates

__all__ = ["GroupEventHandlers"]

_KINDS = (PodGroup, CompositePodGroup)


class GroupEventHandlers(EventHandlers):
    """Passes groups and their pods to the states of groups and to the queue.

    Args:
        cache: The nodes and their pods; passes pods on nodes to the groups.
        queue: The pending pods.
        groups: The pods of groups by their state.
        scheduler_names: See `EventHandlers`, as for the others.
        reject_waiting: Rejects a pod that waits on Permit.
        progress: Notified of every change, except for status patches.
        kubernetes: The version of Kubernetes.
        slices: Adds the taints of rules to slices.
    """

    def __init__(
        self,
        *,
        cache: Cache,
        queue: GroupQueue,
        groups: GroupStates,
        scheduler_names: Container[str],
        reject_waiting: Callable[[str], bool],
        progress: Progress,
        kubernetes: Kubernetes,
        slices: EffectiveSlices | None = None,
    ) -> None:
        super().__init__(
            cache=cache,
            queue=queue,
            scheduler_names=scheduler_names,
            reject_waiting=reject_waiting,
            progress=progress,
            kubernetes=kubernetes,
            slices=slices,
        )
        self._group_queue = queue
        self._groups = groups

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """See `ChangeHandler.changed`."""
        if kind not in _KINDS:
            super().changed(kind, old, new, missed=missed)
            return
        before: Any = old
        after: Any = new
        self._group_changed(before, after)

    # Groups -------------------------------------------------------------------------

    def _group_changed(self, old: GroupObject | None, new: GroupObject | None) -> None:
        # The scheduler writes a condition after each attempt. If that counted as a
        # change, each failed attempt would cause the next one.
        if old is None or new is None or not _is_mere_report(old, new):
            self._progress.note_change()
        if new is None:
            assert old is not None, "a change has at least one object"
            self._group_deleted(old)
        elif old is None:
            self._group_added(new)
        elif old.metadata.uid != new.metadata.uid:
            self._group_deleted(old)
            self._group_added(new)
        elif old.metadata.resource_version != new.metadata.resource_version:
            self._groups.set_group(new)
            self._group_queue.update_group(new)
            self._move_all(ActionType.UPDATE, old, new)

    def _group_added(self, group: GroupObject) -> None:
        self._groups.set_group(group)
        self._group_queue.add_group(group)
        self._move_all(ActionType.ADD, None, group)

    def _group_deleted(self, group: GroupObject) -> None:
        self._groups.remove_group(group)
        self._group_queue.delete_group(group)
        self._move_all(ActionType.DELETE, group, None)

    def _move_all(
        self, action: ActionType, old: GroupObject | None, new: GroupObject | None
    ) -> None:
        group = new or old
        assert group is not None, "a change has at least one object"
        self._queue.move_all(ClusterEvent(resource_of(type(group)), action), old, new)

    # Pods ---------------------------------------------------------------------------

    def _pod_added(self, pod: Pod) -> None:
        is_pending = not pod.node_name and self._is_ours(pod)
        if is_pending:
            self._groups.put(pod)
        super()._pod_added(pod)
        if is_pending:
            # For every pod, also outside groups: ``addPodToSchedulingQueue``.
            self._queue.move_all(UNSCHEDULED_POD_ADD, None, pod)

    def _pending_updated(self, old: Pod, new: Pod) -> None:
        if old.metadata.resource_version != new.metadata.resource_version:
            if old.metadata.uid != new.metadata.uid:
                self._groups.remove(old)
            self._groups.put(new)
        super()._pending_updated(old, new)

    def _pod_deleted(self, pod: Pod, missed: bool) -> None:
        super()._pod_deleted(pod, missed)
        # A pod that was rejected on Permit by its deletion would stay in upstream's
        # state for ever.
        self._groups.remove(pod)

    def _pending_deleted(self, pod: Pod) -> None:
        # The queue comes first: PreEnqueue still counts the pod when its group is
        # requeued, ``deletePodFromSchedulingQueue``.
        self._queue.delete(pod)
        if self._cache.is_assumed(pod.uid):
            self._assumed_deleted(pod)
            return
        self._groups.remove(pod)
        if pod.status.nominated_node_name:
            self._nomination_freed(pod)


def _is_mere_report(old: GroupObject, new: GroupObject) -> bool:
    """Whether only the conditions of a group changed, as after an attempt."""
    metadata = replace(old.metadata, resource_version=new.metadata.resource_version)
    status: Any = replace(old.status, conditions=new.status.conditions)
    return metadata == new.metadata and (old.spec, status) == (new.spec, new.status)
