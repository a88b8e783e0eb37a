"""What happens in a cluster, as the scheduling queue sees it.

A plugin that rejects pods registers the events that may change its mind, each with an
optional queueing hint. Mirrors k8s.io/kube-scheduler v0.36, ``framework/types.go``.
"""

import enum
from collections.abc import Callable
from typing import TypeAlias

import attrs

from quaymaster.objects import ApiObject, Pod

__all__ = [
    "ActionType",
    "ClusterEvent",
    "ClusterEventWithHint",
    "EventResource",
    "QueueingHint",
    "QueueingHintFn",
]


class ActionType(enum.IntFlag):
    """Kinds of change; several may be OR-ed into one registration."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096
    UPDATE = 8188
    ALL = 8191

    @property
    def label(self) -> str:
        """Upstream's name of a single action, ``Update`` or ``All``; else empty."""
        return _ACTION_LABELS.get(self, "")


_ACTION_LABELS = {
    action: "".join(word.capitalize() for word in name.split("_"))
    for name, action in ActionType.__members__.items()
}


class EventResource(enum.StrEnum):
    """What an event is about. ``WILDCARD`` stands for every resource."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    WILDCARD = "*"


_POD_RESOURCES = frozenset(
    {EventResource.ASSIGNED_POD, EventResource.UNSCHEDULABLE_POD}
)


class QueueingHint(enum.Enum):
    """Whether an event may make a rejected pod schedulable."""

    SKIP = "QueueSkip"
    QUEUE = "Queue"


QueueingHintFn: TypeAlias = Callable[
    [Pod, ApiObject | None, ApiObject | None], QueueingHint
]
"""``(rejected pod, old object, new object) -> hint``; an exception counts as QUEUE."""


@attrs.frozen(cache_hash=True)
class ClusterEvent:
    """One change in the cluster, or one registration for such changes.

    Attributes:
        resource: What changed.
        action: How; a registration may OR several.
        custom_label: Overrides `label` for the queue's own events.
    """

    resource: EventResource
    action: ActionType
    custom_label: str = ""

    @property
    def label(self) -> str:
        """The name of this event in logs and metrics, as upstream's ``Label()``."""
        return self.custom_label or f"{self.resource.value}{self.action.label}"

    @property
    def is_wildcard(self) -> bool:
        """Whether this stands for every change of every resource."""
        return self.resource is EventResource.WILDCARD and self.action == ActionType.ALL

    def matches(self, incoming: "ClusterEvent") -> bool:
        """Whether a registration for this event is interested in ``incoming``.

        The incoming action must be covered: ``Update`` as a whole is no answer to
        a registration for one of its parts.
        """
        if self.is_wildcard:
            return True
        same = (
            self.resource is EventResource.WILDCARD
            or self.resource is incoming.resource
            or (
                self.resource is EventResource.POD
                and incoming.resource in _POD_RESOURCES
            )
        )
        return (
            same
            and bool(self.action & incoming.action)
            and incoming.action <= self.action
        )


@attrs.frozen
class ClusterEventWithHint:
    """What ``events_to_register`` returns: an event, and a hint to narrow it.

    Attributes:
        event: The changes that may help a pod which this plugin rejected.
        hint: Asked for each such change and pod; None means always QUEUE.
    """

    event: ClusterEvent
    hint: QueueingHintFn | None = None
