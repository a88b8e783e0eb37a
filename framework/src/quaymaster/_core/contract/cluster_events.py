"""Events of a cluster, as the scheduling queue sees them.

A plugin that rejects pods registers the events that may make them schedulable, each
with an optional queueing hint. Mirrors k8s.io/kube-scheduler v0.36 and v0.37,
``framework/types.go``.
"""

import enum
import re
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar, cast, overload

import attrs
import msgspec

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.kinds import group_of, plural_of, version_of

__all__ = [
    "ActionType",
    "Change",
    "ClusterEvent",
    "ClusterEventWithHint",
    "EventResource",
    "EventsOf",
    "HintIndex",
    "PodEvents",
    "QueueingHint",
    "QueueingHintFn",
    "on_node",
    "on_pod",
    "resource_of",
]


class ActionType(enum.IntFlag):
    """Kinds of change; several may be OR-ed into one registration.

    The numbers are those of Kubernetes 1.37. With 1.36, ``UPDATE_POD_SCALE_UP`` and
    ``UPDATE_NODE_PREEMPTION_POLICY`` never occur: a pod that requests more is an
    ``UPDATE`` there.
    """

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_NODE_PREEMPTION_POLICY = 256
    UPDATE_POD_LABEL = 512
    UPDATE_POD_SCALE_DOWN = 1024
    UPDATE_POD_SCALE_UP = 2048
    UPDATE_POD_TOLERATION = 4096
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 8192
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 16384
    # All bits except ADD and DELETE. A new kind of update must be added here and in
    # ALL; `ClusterEvent.matches` relies on UPDATE being larger than each of its parts.
    UPDATE = 32764
    ALL = 32767

    @property
    def label(self) -> str:
        """Upstream's name of a single action, ``Update`` or ``All``; else empty."""
        return _ACTION_LABELS.get(self, "")


_GVR: Final = re.compile(
    r"[a-z][-a-z0-9]*\.[a-z0-9]+\.([a-z0-9][-.a-z0-9]*)?", re.ASCII
)
"""Upstream requires at least two dots; the core group is empty."""

_ACTION_LABELS = {
    action: "".join(word.capitalize() for word in name.split("_"))
    for name, action in ActionType.__members__.items()
}


class EventResource(enum.StrEnum):
    """The resources that events are about. ``WILDCARD`` means every resource.

    ``POD`` means every pod, and three names mean some pods. ``ASSIGNED_POD`` is a pod
    with a node, ``TARGET_POD`` the rejected pod itself while it waits, and
    ``UNSCHEDULED_POD`` any other pod without a node. Kubernetes 1.36 has one name for
    the last two, ``UNSCHEDULABLE_POD``. A registration may use each name with either
    version, whatever name the event has.

    Each kind that a plugin or a package declares adds a resource, named as upstream
    names it: plural, version and group. The same text returns the same object:
    ``EventResource("podgroups.v1alpha1.scheduling.x-k8s.io")``.
    """

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
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
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    COMPOSITE_POD_GROUP = "scheduling.k8s.io/CompositePodGroup"
    WILDCARD = "*"

    @classmethod
    def _missing_(cls, value: object) -> "EventResource":
        if not isinstance(value, str) or not _GVR.fullmatch(value):
            expected = "plural.version.group such as foos.v1.example.com"
            raise ValueError(f"expected a resource, or {expected}, got {value!r}")
        # By hand, because calling the class would look the value up and end here again.
        resource = str.__new__(cls, value)
        resource._name_ = resource._value_ = value
        # As for combined flags, the enumeration caches the new member.
        cls._value2member_map_[value] = resource
        return resource

    @property
    def is_declared(self) -> bool:
        """Whether this is the resource of a declared kind, not a member."""
        return self._name_ not in type(self).__members__


_NAMED: Final = frozenset(resource.value for resource in EventResource)
_COVERED: Final = {
    EventResource.POD: frozenset(
        {
            EventResource.ASSIGNED_POD,
            EventResource.UNSCHEDULED_POD,
            EventResource.TARGET_POD,
            EventResource.UNSCHEDULABLE_POD,
        }
    ),
    EventResource.UNSCHEDULABLE_POD: frozenset(
        {EventResource.UNSCHEDULED_POD, EventResource.TARGET_POD}
    ),
    EventResource.UNSCHEDULED_POD: frozenset({EventResource.UNSCHEDULABLE_POD}),
    EventResource.TARGET_POD: frozenset({EventResource.UNSCHEDULABLE_POD}),
}
"""Resource of a registration -> other resources whose events it matches too."""


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
        action: How it changed; a registration may OR several actions.
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
        """Whether this means every change of every resource."""
        return self.resource is EventResource.WILDCARD and self.action == ActionType.ALL

    def matches(self, incoming: "ClusterEvent") -> bool:
        """Whether a registration for this event matches ``incoming``.

        The registration has to cover the incoming action. A registration for one kind
        of update does not cover ``Update`` as a whole.
        """
        if self.is_wildcard:
            return True
        same = (
            self.resource is EventResource.WILDCARD
            or self.resource == incoming.resource
            or incoming.resource in _COVERED.get(self.resource, ())
        )
        return (
            same
            and bool(self.action & incoming.action)
            # A comparison of numbers, not of sets, as in ``MatchClusterEvents``
            # (pkg/scheduler/framework/types.go). For single actions both are the same.
            # A registration of ``ADD | UPDATE_NODE_LABEL`` does not match ``UPDATE``,
            # because its number is smaller.
            and incoming.action <= self.action
        )


@attrs.frozen
class ClusterEventWithHint:
    """An element of ``events_to_register``: an event, and a hint to narrow it.

    `on_pod`, `on_node` and `EventsOf` create these, so that type checkers verify that
    the hint fits the event.

    Attributes:
        event: The changes that may help a pod which this plugin rejected.
        hint: Called for each such change and pod; None means always QUEUE.
        index: Selects the pods that the hint is called for; None selects all.
    """

    event: ClusterEvent
    hint: QueueingHintFn | None = None
    index: "HintIndex | None" = None

    def indexed(
        self,
        pod_keys: Callable[[Pod], Iterable[Hashable] | None],
        event_keys: Callable[[Any, Any], Iterable[Hashable] | None],
    ) -> "ClusterEventWithHint":
        """Return the same registration with a hint that is called for fewer pods.

        Without an index, a hint is called for each change and every pod that the plugin
        rejected: thousands of pods times thousands of changes. The hint must return
        SKIP for each pod that has none of a change's keys.

        Args:
            pod_keys: Returns the keys of a rejected pod, computed from the pod alone;
                None if any change may concern it.
            event_keys: Returns the keys of a change, called with ``(old, new)`` as the
                hint is; None if it may concern any pod.
        """
        return attrs.evolve(self, index=HintIndex(pod_keys, event_keys))


class HintIndex(msgspec.Struct, frozen=True, eq=False):
    """Two functions that select the pods that a change may concern.

    Attributes:
        pod_keys: Returns the keys of a rejected pod; None if any change may concern it.
        event_keys: Returns the keys of a change; None if it may concern any pod.
    """

    pod_keys: Callable[[Pod], Iterable[Hashable] | None]
    event_keys: Callable[[Any, Any], Iterable[Hashable] | None]


class Added:
    """Marks, for type checkers, a `Change` after which an object exists."""


class Updated:
    """Marks a `Change` before and after which an object exists."""


class Deleted:
    """Marks a `Change` before which an object existed."""


KindT_co = TypeVar("KindT_co", covariant=True)
OtherT = TypeVar("OtherT")
ObjT = TypeVar("ObjT", bound=ApiObject)


class Change(Generic[KindT_co]):
    """A change of an object; several are OR-ed: ``Change.ADD | Change.DELETE``.

    These are the flags of `ActionType` with types of their own. Type checkers derive
    from them whether a hint gets an old and a new object, see `EventsOf`.

    Args:
        action: The flags.
    """

    __slots__ = ("action",)

    ADD: ClassVar["Change[Added]"]
    DELETE: ClassVar["Change[Deleted]"]
    UPDATE: ClassVar["Change[Updated]"]
    UPDATE_NODE_ALLOCATABLE: ClassVar["Change[Updated]"]
    UPDATE_NODE_LABEL: ClassVar["Change[Updated]"]
    UPDATE_NODE_TAINT: ClassVar["Change[Updated]"]
    UPDATE_NODE_CONDITION: ClassVar["Change[Updated]"]
    UPDATE_NODE_ANNOTATION: ClassVar["Change[Updated]"]
    UPDATE_NODE_DECLARED_FEATURE: ClassVar["Change[Updated]"]
    UPDATE_NODE_PREEMPTION_POLICY: ClassVar["Change[Updated]"]
    UPDATE_POD_LABEL: ClassVar["Change[Updated]"]
    UPDATE_POD_SCALE_DOWN: ClassVar["Change[Updated]"]
    UPDATE_POD_SCALE_UP: ClassVar["Change[Updated]"]
    UPDATE_POD_TOLERATION: ClassVar["Change[Updated]"]
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED: ClassVar["Change[Updated]"]
    UPDATE_POD_GENERATED_RESOURCE_CLAIM: ClassVar["Change[Updated]"]
    ALL: ClassVar["Change[Added | Updated | Deleted]"]

    def __init__(self, action: ActionType) -> None:
        self.action = action

    def __or__(self, other: "Change[OtherT]") -> "Change[KindT_co | OtherT]":
        return Change(self.action | other.action)

    def __repr__(self) -> str:
        return f"Change({self.action!r})"


for _name, _action in ActionType.__members__.items():
    setattr(Change, _name, Change(_action))


@cache
def resource_of(kind: type[ApiObject]) -> EventResource:
    """Return upstream's name for the resource of a class.

    For kinds that upstream has a name for, it is the group, if any, and the kind. For
    others it is the plural, version and group.

    Raises:
        ValueError: The class declares no valid resource.
    """
    group, version = group_of(kind.api_version), version_of(kind.api_version)
    name = f"{group}/{kind.kind}" if group else kind.kind
    if name in _NAMED:
        return EventResource(name)
    return EventResource(f"{plural_of(kind)}.{version}.{group}")


class EventsOf(Generic[ObjT]):
    """Registers for changes of one resource: ``on_node(Change.ADD, hint)``.

    For each change and each pod that this plugin rejected, the queue calls
    ``hint(pod, old, new)``. ``old`` is None for an added object, ``new`` is None for a
    deleted one; otherwise both are objects of this resource. So a hint for
    ``Change.ADD | Change.UPDATE`` takes an ``old`` that may be None, and a ``new`` that
    is not. Without a hint, each change requeues the pod.

    For pods and nodes there are `on_pod` and `on_node`. For other objects, pass their
    class: ``EventsOf(StorageClass)(Change.ADD)``, ``EventsOf(PodGroup)(Change.ALL)``.
    A profile is rejected if its plugin registers for objects that have no informer.

    Args:
        of: The class of the objects, or the resource, also as a text:
            ``podgroups.v1alpha1.scheduling.x-k8s.io``.

    Raises:
        ValueError: The text names no resource.
    """

    def __init__(self, of: type[ObjT] | EventResource | str) -> None:
        self._resource = EventResource(of) if isinstance(of, str) else resource_of(of)

    @overload
    def __call__(
        self, change: Change[Added | Updated | Deleted], hint: None = None
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self, change: Change[Added], hint: Callable[[Pod, None, ObjT], QueueingHint]
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self, change: Change[Updated], hint: Callable[[Pod, ObjT, ObjT], QueueingHint]
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self, change: Change[Deleted], hint: Callable[[Pod, ObjT, None], QueueingHint]
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self,
        change: Change[Added | Updated],
        hint: Callable[[Pod, ObjT | None, ObjT], QueueingHint],
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self,
        change: Change[Updated | Deleted],
        hint: Callable[[Pod, ObjT, ObjT | None], QueueingHint],
    ) -> ClusterEventWithHint: ...

    @overload
    def __call__(
        self,
        change: Change[Added | Updated | Deleted],
        hint: Callable[[Pod, ObjT | None, ObjT | None], QueueingHint],
    ) -> ClusterEventWithHint: ...

    def __call__(
        self,
        change: Change[Added | Updated | Deleted],
        # Any: the overloads say which types go together.
        hint: Callable[[Pod, Any, Any], QueueingHint] | None = None,
    ) -> ClusterEventWithHint:
        """Register for changes of this resource.

        Args:
            change: What must happen.
            hint: Returns for each pod whether this may help it.
        """
        event = ClusterEvent(self._resource, change.action)
        return ClusterEventWithHint(event, cast("QueueingHintFn | None", hint))


class PodEvents(EventsOf[Pod]):
    """Registers for changes of pods: ``on_pod(Change.DELETE, hint)``.

    A narrower registration requeues fewer pods: ``on_pod.assigned(Change.DELETE)`` is
    for pods that have a node or are nominated to one, and
    ``on_pod.target(Change.UPDATE_POD_LABEL)`` for updates of the rejected pod itself. A
    pod in flight also gets updates of other pods in flight, so a hint should check
    ``new.uid == pod.uid``.
    """

    assigned: ClassVar = EventsOf[Pod](EventResource.ASSIGNED_POD)
    target: ClassVar = EventsOf[Pod](EventResource.TARGET_POD)


on_pod: Final = PodEvents(Pod)
"""Registers for changes of pods: ``on_pod(Change.DELETE, hint)``."""

on_node: Final = EventsOf(Node)
"""Registers for changes of nodes: ``on_node(Change.ADD, hint)``."""
