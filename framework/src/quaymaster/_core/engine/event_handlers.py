"""Event handlers: pass changes of the cluster to the cache and the queue.

Mirrors Kubernetes v1.36 and v1.37, ``pkg/scheduler/eventhandlers.go``.
"""

from collections.abc import Callable, Container
from functools import cache
from typing import Any, Final

from quaymaster._api.objects import ApiObject, DeviceTaintRule, Node, Pod, ResourceSlice
from quaymaster._api.objects.pod import FINISHED_PHASES
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    resource_of,
)
from quaymaster._core.engine.changes import PodChanges, is_mere_report, node_changes
from quaymaster._core.engine.effective_slices import EffectiveSlices
from quaymaster._core.engine.progress import Progress
from quaymaster._core.queue.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
)
from quaymaster._core.queue.scheduling_queue import SchedulingQueue
from quaymaster._core.state.cache import Cache

__all__ = ["EventHandlers"]

# Each event is made once: making it takes longer than finding that no pod waits for it.
_event: Final = cache(ClusterEvent)
_OF_SLICES: Final = (ResourceSlice, DeviceTaintRule)


class EventHandlers:
    """Handles every change of the cluster; implements `ChangeHandler`.

    Args:
        cache: The nodes and their pods.
        queue: The pending pods.
        scheduler_names: The names of the profiles, which may change. Pods of other
            schedulers do not enter the queue.
        reject_waiting: Rejects a pod, by uid, if it waits on Permit. Returns whether it
            waited. The failure that follows may be handled in the call or later.
        progress: Notified of every change, except for status patches.
        kubernetes: The version of Kubernetes that names the changes of pods.
        slices: Adds the taints of rules to slices; None if there are no rules.
    """

    def __init__(
        self,
        *,
        cache: Cache,
        queue: SchedulingQueue,
        scheduler_names: Container[str],
        reject_waiting: Callable[[str], bool],
        progress: Progress,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
        slices: EffectiveSlices | None = None,
    ) -> None:
        self._slices = slices
        self._cache = cache
        self._queue = queue
        self._scheduler_names = scheduler_names
        self._reject_waiting = reject_waiting
        self._progress = progress
        self._pod_changes = PodChanges(kubernetes).of

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """See `ChangeHandler.changed`."""
        before: Any = old
        after: Any = new
        if kind is Pod:
            # The engine's own status patches come back as changes of the pod. If they
            # counted, each failed attempt would cause the next one, and no simulation
            # would settle.
            if before is None or after is None or not is_mere_report(before, after):
                self._progress.note_change()
            self._pod_changed(before, after, missed)
            return
        self._progress.note_change()
        if kind is Node:
            self._node_changed(before, after)
        elif kind in _OF_SLICES and self._slices is not None:
            for change in self._slices.changes(kind, old, new):
                self._other_changed(*change)
        else:
            self._other_changed(kind, before, after)

    # Nodes and the rest -------------------------------------------------------------

    def _node_changed(self, old: Node | None, new: Node | None) -> None:
        if new is None:
            assert old is not None, "a change has at least one object"
            # The node leaves the cache last, as in ``deleteNodeFromCache``.
            self._queue.move_all(NODE_DELETE, old, None)
            self._cache.remove_node(old)
            return
        # Before any pod is moved: a hint may read the snapshot, and must see the
        # change.
        self._cache.add_node(new)
        if old is None:
            self._queue.move_all(NODE_ADD, None, new)
            return
        for event in node_changes(old, new):
            self._queue.move_all(event, old, new)

    def _other_changed(
        self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
    ) -> None:
        resource = resource_of(kind)
        action = ActionType.UPDATE
        if old is None:
            action = ActionType.ADD
        elif new is None:
            action = ActionType.DELETE
        # Upstream starts an informer only for a resource that some plugin registered by
        # name. A plugin that registered all resources gets events of it only then.
        if self._queue.is_watched(resource, action):
            self._queue.move_all(_event(resource, action), old, new)

    # Pods ---------------------------------------------------------------------------

    def _pod_changed(self, old: Pod | None, new: Pod | None, missed: bool) -> None:
        """Treat a finished pod as deleted: upstream's informer leaves it out."""
        is_live = new is not None and new.status.phase not in FINISHED_PHASES
        if old is not None and old.status.phase not in FINISHED_PHASES:
            if new is not None and is_live:
                self._pod_updated(old, new)
            else:
                self._pod_deleted(old, missed)
        elif new is not None and is_live:
            self._pod_added(new)
        elif old is not None and self._is_tracked(old):
            # The pod finished and was deleted, and only the deletion was seen.
            self._pod_deleted(old, missed=True)

    def _pod_added(self, pod: Pod) -> None:
        if pod.node_name:
            self._cache.add_pod(pod)
            self._queue.move_all(ASSIGNED_POD_ADD, None, pod)
        elif self._is_ours(pod):
            self._queue.add(pod)

    def _pod_updated(self, old: Pod, new: Pod) -> None:
        if old.node_name:
            self._cache.update_pod(old, new)
            for event in self._pod_changes(old, new):
                self._queue.move_all(event, old, new)
        elif new.node_name:
            self._cache.add_pod(new)
            self._queue.move_all(ASSIGNED_POD_ADD, None, new)
            if self._is_ours(old):
                self._queue.delete(old)
        elif self._is_ours(old):
            self._pending_updated(old, new)

    def _pending_updated(self, old: Pod, new: Pod) -> None:
        if old.metadata.resource_version == new.metadata.resource_version:
            # The same version, delivered twice, must not enter the queue twice.
            return
        if self._cache.is_assumed(new.uid):
            if new.is_terminating and not old.is_terminating:
                self._assumed_deleted(new)
            return
        self._queue.update(old, new, self._pod_changes(old, new))
        nominated = old.status.nominated_node_name
        if nominated and nominated != new.status.nominated_node_name:
            self._nomination_freed(old)

    def _pod_deleted(self, pod: Pod, missed: bool) -> None:
        if pod.node_name or missed:
            # If the deletion was missed, a bind may have been missed before it.
            self._cache.remove_pod(pod)
            self._queue.move_all(ASSIGNED_POD_DELETE, pod, None)
        if self._is_ours(pod) and (missed or not pod.node_name):
            self._pending_deleted(pod)

    def _pending_deleted(self, pod: Pod) -> None:
        self._queue.delete(pod)
        if self._cache.is_assumed(pod.uid):
            self._assumed_deleted(pod)
        elif pod.status.nominated_node_name:
            self._nomination_freed(pod)

    def _assumed_deleted(self, pod: Pod) -> None:
        """Free the resources of an assumed pod; its binding will fail by itself."""
        assumed = self._cache.get(pod.uid)
        assert assumed is not None, "an assumed pod is in the cache"
        if not self._reject_waiting(pod.uid):
            self._cache.remove_assumed(assumed)
        self._queue.move_all(ASSIGNED_POD_DELETE, assumed, None)

    def _nomination_freed(self, pod: Pod) -> None:
        """Wake the pods that may fit now: the nomination counted on its node."""
        priority = pod.priority
        self._queue.move_all(
            ASSIGNED_POD_DELETE,
            pod,
            None,
            pre_check=lambda other: other.priority <= priority,
        )

    def _is_ours(self, pod: Pod) -> bool:
        """Whether the pod's scheduler is a profile here, or was when it was assumed."""
        return pod.spec.scheduler_name in self._scheduler_names or (
            self._cache.is_assumed(pod.metadata.uid)
        )

    def _is_tracked(self, pod: Pod) -> bool:
        queued = self._queue.get(pod.key)
        if queued is not None and queued.pod.uid == pod.uid:
            return True
        return self._cache.get(pod.uid) is not None
