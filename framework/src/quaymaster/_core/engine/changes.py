"""Finds the properties that an update changed and that matter for scheduling.

Mirrors ``PodSchedulingPropertiesChange`` and ``NodeSchedulingPropertiesChange``
(Kubernetes v1.36 and v1.37, ``pkg/scheduler/framework/events.go``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import ResourceList
from quaymaster._api.objects.resources import usage_by
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.cluster import differ_by_outcome
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
)

__all__ = ["PodChanges", "is_mere_report", "node_changes"]

_Event: TypeAlias = Mapping[ActionType, ClusterEvent]
_PodChecks: TypeAlias = Sequence[tuple[ActionType, Callable[[Pod, Pod], bool]]]


class PodChanges:
    """Translates an update of a pod into the events of one version of Kubernetes.

    Args:
        kubernetes: The version. 1.36 has no event of its own for a pod that requests
            more, and uses one resource name for all pods without a node.
    """

    __slots__ = ("_assigned", "_checks", "_waiting")

    def __init__(self, kubernetes: Kubernetes) -> None:
        is_newer = kubernetes.since("1.37")
        waiting = EventResource.UNSCHEDULABLE_POD
        if is_newer:
            waiting = EventResource.TARGET_POD
        requests = _RequestChanges(kubernetes)
        checks: list[tuple[ActionType, Callable[[Pod, Pod], bool]]] = [
            (ActionType.UPDATE_POD_LABEL, _labels_changed),
            (ActionType.UPDATE_POD_SCALE_DOWN, requests.is_smaller),
        ]
        if is_newer:
            checks.append((ActionType.UPDATE_POD_SCALE_UP, requests.is_larger))
        self._checks: _PodChecks = [*checks, *_OTHER_POD_CHECKS]
        actions = [*(action for action, _ in self._checks), ActionType.UPDATE]
        self._assigned = _events(EventResource.ASSIGNED_POD, actions)
        self._waiting = _events(waiting, actions)

    def of(self, old: Pod, new: Pod) -> Sequence[ClusterEvent]:
        """Return one event per changed property of a pod.

        If no such property has changed, return one general update. That wakes only
        the pods of plugins that registered for updates of pods in general.
        """
        events = self._assigned if new.node_name else self._waiting
        # Identity: the patch of a status keeps the other objects. All checks together
        # took a tenth of the handling of an attempt's own patch.
        if (
            old.spec is new.spec
            and old.metadata.labels is new.metadata.labels
            and differ_by_outcome(old.status, new.status)
        ):
            return [events[ActionType.UPDATE]]
        changes = [
            events[action] for action, changed in self._checks if changed(old, new)
        ]
        return changes or [events[ActionType.UPDATE]]


def node_changes(old: Node, new: Node) -> Sequence[ClusterEvent]:
    """Return one event per changed property of a node, if any."""
    return [_NODE[action] for action, changed in _NODE_CHECKS if changed(old, new)]


def is_mere_report(old: Pod, new: Pod) -> bool:
    """Whether only conditions and nomination of a pod changed, as after a failure."""
    # Identity: a status patch keeps the spec object. A new object of equal content
    # counts as a change: then pods are retried without need, but none is missed.
    if old.node_name != new.node_name or old.spec is not new.spec:
        return False
    metadata = msgspec.structs.replace(
        old.metadata, resource_version=new.metadata.resource_version
    )
    status = msgspec.structs.replace(
        old.status,
        conditions=new.status.conditions,
        nominated_node_name=new.status.nominated_node_name,
    )
    return metadata == new.metadata and status == new.status


def _labels_changed(old: Pod | Node, new: Pod | Node) -> bool:
    return old.metadata.labels != new.metadata.labels


class _RequestChanges:
    """Compares the requests of pods, as a version of Kubernetes counts them."""

    __slots__ = ("_by_totals", "_usage_of")

    def __init__(self, kubernetes: Kubernetes) -> None:
        self._by_totals = kubernetes.has("resize-totals")
        self._usage_of = usage_by(kubernetes)

    def is_smaller(self, old: Pod, new: Pod) -> bool:
        """Whether any request is lower, or was removed."""
        # Identity: usage is computed once per spec, and most updates share the spec.
        if self._usage_of(old) is self._usage_of(new):
            return False
        after = self._requests(new)
        return any(
            name not in after or amount.milli_value > after[name].milli_value
            for name, amount in self._requests(old).items()
        )

    def is_larger(self, old: Pod, new: Pod) -> bool:
        """Whether any request is higher, or was added."""
        return self.is_smaller(new, old)

    def _requests(self, pod: Pod) -> ResourceList:
        return pod_request_list(pod, use_status=True, by_totals=self._by_totals)


def _gates_eliminated(old: Pod, new: Pod) -> bool:
    return bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates


def _tolerations_changed(old: Pod, new: Pod) -> bool:
    # The API lets users add tolerations, not change or remove them.
    return len(old.spec.tolerations) != len(new.spec.tolerations)


def _claims_generated(old: Pod, new: Pod) -> bool:
    before, after = old.status, new.status
    return (
        before.resource_claim_statuses != after.resource_claim_statuses
        or before.extended_resource_claim_status != after.extended_resource_claim_status
    )


def _made_schedulable(old: Node, new: Node) -> bool:
    return old.spec.unschedulable and not new.spec.unschedulable


def _allocatable_changed(old: Node, new: Node) -> bool:
    return old.status.allocatable != new.status.allocatable


def _taints_changed(old: Node, new: Node) -> bool:
    return old.spec.taints != new.spec.taints


def _conditions_changed(old: Node, new: Node) -> bool:
    return _condition_statuses(old) != _condition_statuses(new)


def _condition_statuses(node: Node) -> Mapping[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _annotations_changed(old: Node, new: Node) -> bool:
    return old.metadata.annotations != new.metadata.annotations


def _features_changed(old: Node, new: Node) -> bool:
    return old.status.declared_features != new.status.declared_features


_OTHER_POD_CHECKS: _PodChecks = (
    (ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, _gates_eliminated),
    (ActionType.UPDATE_POD_TOLERATION, _tolerations_changed),
    (ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, _claims_generated),
)

_NODE_CHECKS: Sequence[tuple[ActionType, Callable[[Node, Node], bool]]] = (
    # Upstream has no event of its own for this: it reports the change as one of the
    # taint that an unschedulable node has as well.
    (ActionType.UPDATE_NODE_TAINT, _made_schedulable),
    (ActionType.UPDATE_NODE_ALLOCATABLE, _allocatable_changed),
    (ActionType.UPDATE_NODE_LABEL, _labels_changed),
    (ActionType.UPDATE_NODE_TAINT, _taints_changed),
    (ActionType.UPDATE_NODE_CONDITION, _conditions_changed),
    (ActionType.UPDATE_NODE_ANNOTATION, _annotations_changed),
    (ActionType.UPDATE_NODE_DECLARED_FEATURE, _features_changed),
)


def _events(resource: EventResource, actions: Sequence[ActionType]) -> _Event:
    """Make each event once: the queue caches by event which plugins registered it."""
    return {action: ClusterEvent(resource, action) for action in actions}


_NODE = _events(EventResource.NODE, [action for action, _ in _NODE_CHECKS])
