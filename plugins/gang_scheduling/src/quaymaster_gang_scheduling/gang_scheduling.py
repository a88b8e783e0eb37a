"""Schedule the pods of a gang together, or none of them.

A gang is a PodGroup with ``spec.schedulingPolicy.gang``. Its pods are queued when there
are ``minCount`` of them, and bound when ``minCount`` of them have a node. A PodGroup
with the policy ``basic`` needs one pod with a node. A CompositePodGroup needs
``minGroupCount`` of its children, or one with the policy ``basic``.

Mirrors ``GangScheduling`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go``). It does nothing
without the feature gate GenericWorkload.
"""

from collections.abc import Sequence
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    EventResource,
    EventsOf,
    Handle,
    PermitWait,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.hookspecs import PlacementProgress, PodGroupInfo
from quaymaster.objects import CompositePodGroup, PodGroup
from quaymaster_gang_scheduling.hints import needs_fewer, queue_if
from quaymaster_gang_scheduling.trees import Trees

__all__ = ["GangScheduling"]

_PERMIT_TIMEOUT_SECONDS: Final = 5 * 60.0
_WAIT: Final = PermitWait(_PERMIT_TIMEOUT_SECONDS)
_FEW_PODS: Final = Status.unresolvable(
    "waiting for minCount pods from a gang to appear in scheduling queue"
)

_on_unscheduled_pod = EventsOf[Pod](EventResource.UNSCHEDULED_POD)


class GangScheduling:
    """Holds the pods of a gang back until enough of them can be scheduled.

    Args:
        _args: None; the plugin takes no arguments.
        handle: The framework.
    """

    reads = (PodGroup, CompositePodGroup)
    writes = ()
    gates_groups = True

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle
        self._groups = handle.pod_groups
        self._allowed = ""
        self._trees: Trees | None = None
        if self._groups is not None and handle.kubernetes.enabled("CompositePodGroup"):
            self._trees = Trees(handle)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        groups = self._groups
        if groups is None or not (key := pod.group_key):
            return None
        state = groups.get(key)
        if state is None or state.group is None:
            name = key.partition("/")[2]
            return Status.unresolvable(
                f'waiting for pods\'s pod group "{name}" to appear in scheduling queue'
            )
        if self._trees is not None and state.group.parent_key:
            return self._trees.gate(pod)
        if state.group.spec.scheduling_policy.gang is None:
            return None
        # All pods of the gang count, also those that have a node: a gang that lost one
        # pod must not wait for minCount new ones.
        return _FEW_PODS if len(state.pods) < state.group.min_count else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        if self._groups is None:
            return []
        if self._trees is not None:
            return self._trees.events_to_register()
        on_pod_group = EventsOf(PodGroup)
        return [
            _on_unscheduled_pod(Change.ADD, _after_pod_added),
            on_pod.assigned(Change.ADD, _after_pod_added),
            on_pod_group(Change.ADD, _after_group_added),
            on_pod_group(Change.UPDATE, _after_group_updated),
        ]

    @hookimpl
    def placement_feasible(
        self, group: PodGroupInfo, progress: PlacementProgress
    ) -> Status | None:
        least = group.group.min_count
        scheduled, remaining = progress.scheduled, progress.remaining
        if scheduled >= least:
            return None
        numbers = f"{scheduled} scheduled, {remaining} remaining"
        # Known before all pods are tried, so that the search on this placement ends at
        # once.
        if scheduled + remaining < least:
            return Status.unschedulable(
                f"minCount ({least}) cannot be satisfied: {numbers}"
            )
        text = f"minCount ({least}) is not yet satisfied: {numbers}"
        return Status(Code.WAIT, (text,))

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        groups = self._groups
        if groups is None or not (key := pod.group_key):
            return None
        state = groups.get(key)
        if state is None or state.group is None:
            text = f"failed to get podGroup {key}"
            name = key.partition("/")[2]
            return Status.from_error(
                f'{text}: podgroup.scheduling.k8s.io "{name}" not found'
            )
        root: PodGroup | CompositePodGroup | Status | None = state.group
        if self._trees is not None and state.group.parent_key:
            root = self._trees.ready_root(pod)
        elif state.group.spec.scheduling_policy.gang is None:
            return None
        elif state.scheduled_count < state.group.min_count:
            root = None
        if root is None:
            # Upstream activates the other pods here. That has no effect, because their
            # group is in its cycle then.
            self._allowed = ""
            return _WAIT
        if isinstance(root, Status):
            return root
        self._allow(root)
        return None

    def _allow(self, root: PodGroup | CompositePodGroup) -> None:
        """Let the pods go on that wait for the quorum of their group."""
        key = root.entity_key
        # No pod of the group has begun to wait since they were allowed. Without this,
        # the time grows with the square of the pods above the quorum: 1,000 pods with
        # minCount 500 took 1.07 s instead of 0.07 s.
        if self._allowed == key or self._groups is None:
            return
        self._allowed = key
        for leaf in self._groups.leaves(root):
            for uid in tuple(leaf.assumed):
                waiting = self._handle.waiting_pod(uid)
                if waiting is not None and "GangScheduling" in waiting.pending_plugins:
                    waiting.allow("GangScheduling")


def _after_pod_added(pod: Pod, _old: None, new: Pod) -> QueueingHint:
    """Queue the pod if a pod of its group was added."""
    return queue_if(bool(pod.group_key) and pod.group_key == new.group_key)


def _after_group_added(pod: Pod, _old: None, new: PodGroup) -> QueueingHint:
    """Queue the pod if its group was added."""
    return queue_if(pod.group_key == new.key)


def _after_group_updated(pod: Pod, old: PodGroup, new: PodGroup) -> QueueingHint:
    """Queue the pod if its gang needs fewer pods now."""
    return queue_if(pod.group_key == new.key and needs_fewer(old, new))
