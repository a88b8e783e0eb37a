"""The differences between the queues of two versions of Kubernetes.

Mirrors the differences between Kubernetes v1.36.2 and v1.37.2 in
``pkg/scheduler/backend/queue`` and ``pkg/scheduler/scheduler.go``.
"""

from typing import Final

import msgspec

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    EventResource,
)

__all__ = ["RULES_OF_1_36", "QueueRules"]


class QueueRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules in which versions differ; resolved when a queue is made.

    Attributes:
        pod_add_label: The label of the arrival of a pod.
        late_pod_label: The label of the arrival of a pod whose first event is an
            update.
        nominating_labels: The causes for which a pod is nominated by its status when
            it becomes active. If there are none, it is nominated whenever it arrives,
            gated or not.
        other_uid_arrives: Whether a pod with the name of a queued pod and another uid
            gets a new record. If not, it takes over the record of the queued pod.
        wildcards_ask_gates: Whether an event for all pods, such as the flush of pods
            that wait for too long, calls PreEnqueue for gated pods.
        adds_taint_events: Whether plugins that register new nodes also get changed
            taints.
    """

    pod_add_label: str
    late_pod_label: str
    nominating_labels: frozenset[str]
    other_uid_arrives: bool
    wildcards_ask_gates: bool
    adds_taint_events: bool

    @classmethod
    def of(cls, kubernetes: Kubernetes) -> "QueueRules":
        """Return the rules of a version of Kubernetes."""
        return RULES_OF_1_37 if kubernetes.since("1.37") else RULES_OF_1_36


def _label(resource: EventResource, action: ActionType) -> str:
    return ClusterEvent(resource, action).label


_ADD_1_36: Final = _label(EventResource.UNSCHEDULABLE_POD, ActionType.ADD)
_UPDATE_1_36: Final = _label(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE)
_ADD_1_37: Final = _label(EventResource.UNSCHEDULED_POD, ActionType.ADD)

RULES_OF_1_36: Final = QueueRules(
    pod_add_label=_ADD_1_36,
    late_pod_label=_UPDATE_1_36,
    nominating_labels=frozenset({_ADD_1_36, _UPDATE_1_36}),
    other_uid_arrives=False,
    wildcards_ask_gates=False,
    adds_taint_events=True,
)

RULES_OF_1_37: Final = QueueRules(
    pod_add_label=_ADD_1_37,
    late_pod_label=_ADD_1_37,
    nominating_labels=frozenset(),
    other_uid_arrives=True,
    wildcards_ask_gates=True,
    adds_taint_events=False,
)
