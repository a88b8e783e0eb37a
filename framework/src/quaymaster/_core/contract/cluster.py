"""The port: the calls that the engine and its plugins may make to a cluster.

Two kinds of cluster implement it: the one of `quaymaster.inmemory`, and a real API
server. Callers must not assume that a call is instant, that events arrive in step with
calls, or that a call which failed had no effect.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, Protocol, TypeVar

import attrs
import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Pod, PodCondition, PodStatus
from quaymaster._base.errors import QuaymasterError

__all__ = [
    "POD_SCHEDULED",
    "AlreadyExistsError",
    "ApiError",
    "Cluster",
    "ConflictError",
    "EventNote",
    "ForbiddenError",
    "InvalidError",
    "ListPendingError",
    "ListResult",
    "NotFoundError",
    "PodStatusPatch",
    "ResourceExpiredError",
    "TooManyRequestsError",
    "UnknownOutcomeError",
    "Watch",
    "WatchEvent",
    "WatchEventType",
    "differ_by_outcome",
]

ObjT = TypeVar("ObjT", bound=ApiObject)
ObjT_co = TypeVar("ObjT_co", bound=ApiObject, covariant=True)

POD_SCHEDULED: Final = "PodScheduled"
"""The type of the condition that the scheduler writes after a failed attempt."""


class ApiError(QuaymasterError):
    """A call that the cluster refused or did not answer.

    Attributes:
        status: The HTTP status that an API server would return; 0 without a response.
    """

    status = 500


class NotFoundError(ApiError):
    """There is no such object."""

    status = 404


class AlreadyExistsError(ApiError):
    """There is an object of that name already."""

    status = 409


class ConflictError(ApiError):
    """The caller's version of the object is not, or no longer, the stored one."""

    status = 409


class ResourceExpiredError(ApiError):
    """The cluster no longer has this resource version: list again."""

    status = 410


class ListPendingError(ApiError):
    """The objects are still arriving; the caller must list them again later.

    Attributes:
        ask_again: Takes a function, and calls it on any thread once a new list may
            succeed.
    """

    status = 0

    def __init__(self, ask_again: Callable[[Callable[[], None]], None]) -> None:
        super().__init__("the list has not arrived yet")
        self.ask_again = ask_again


class InvalidError(ApiError):
    """The object breaks a rule of its kind."""

    status = 422


class ForbiddenError(ApiError):
    """A rule of the cluster forbids the object, such as a quota.

    Attributes:
        reason: The reason in upstream's words.
    """

    status = 403

    def __init__(self, resource: str, name: str, reason: str) -> None:
        super().__init__(f'{resource} "{name}" is forbidden: {reason}')
        self.reason = reason


class TooManyRequestsError(ApiError):
    """The call may succeed later, such as an eviction that a disruption budget forbids.

    Attributes:
        cause: The obstacle in upstream's words; may be empty.
        retry_after_seconds: When to retry; 0 if the response does not set it.
    """

    status = 429

    def __init__(
        self, message: str, *, cause: str = "", retry_after_seconds: int = 0
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.retry_after_seconds = retry_after_seconds


class UnknownOutcomeError(ApiError):
    """Without a response, the call may have taken effect or not: read the object."""

    status = 0


class WatchEventType(enum.Enum):
    """The kinds of changes of a watched object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


# Each change has an instance, which lives long. Structs are created three times as fast
# as attrs classes, and the garbage collector need not visit them.


class WatchEvent(msgspec.Struct, Generic[ObjT_co], eq=False, gc=False):
    """One change of one object.

    Attributes:
        type: What happened.
        object: The object after the change; if it was deleted, as it was last.
        resource_version: The cluster's version right after the change.
        is_missed: Whether the watch missed the deletion itself. Only the name and the
            namespace of the object are then reliable.
    """

    type: WatchEventType
    object: ObjT_co
    resource_version: int
    is_missed: bool = False


@attrs.define(eq=False)
class ListResult(Generic[ObjT_co]):
    """The objects of one kind at one moment.

    Attributes:
        items: In the order of their creation.
        resource_version: Watch from here to see every later change.
    """

    items: Sequence[ObjT_co]
    resource_version: int


class Watch(Protocol[ObjT_co]):
    """A stream of changes of one kind, read in batches."""

    def take(self) -> Sequence[WatchEvent[ObjT_co]]:
        """Return all changes that arrived since the last call; never blocks.

        Raises:
            ResourceExpiredError: Changes were lost: list again and watch from there.
            ApiError: The stream broke: watch again from the last version received.
        """

    def stop(self) -> None:
        """End the stream."""


@attrs.frozen(kw_only=True)
class PodStatusPatch:
    """A change that the scheduler makes to a pod's status.

    Attributes:
        condition: Replaces the pod's condition of the same type.
        nominated_node_name: The new nomination; "" clears it, None leaves it.
    """

    condition: PodCondition | None = None
    nominated_node_name: str | None = None


def differ_by_outcome(before: PodStatus, after: PodStatus) -> bool:
    """Whether two statuses differ at most in the outcome of a failed attempt.

    With an autoscaler, nodes come all the time, and the message of the condition has
    their number: most updates of pods are of this kind. Statuses with other conditions
    are not compared, and count as different.
    """
    earlier, later = before.conditions, after.conditions
    return (
        len(earlier) == len(later) == 1
        and earlier[0].type == later[0].type == POD_SCHEDULED
        and replace(before, conditions=later) == after
    )


class EventNote(msgspec.Struct, eq=False):
    """The contents of an Event, for `Cluster.record`.

    Attributes:
        regarding: The object that the event is about.
        type: ``Normal`` or ``Warning``.
        reason: One word in CamelCase, such as ``FailedScheduling``.
        action: What the reporter was doing, such as ``Scheduling``.
        note: The text, or a function that renders it when it is read.
        reporter: The reporting controller.
        related: A second object, or None.
    """

    regarding: ApiObject
    type: str
    reason: str
    action: str
    note: str | Callable[[], str]
    reporter: str = "default-scheduler"
    related: ApiObject | None = None


class Cluster(Protocol):
    """A cluster's API server, as far as scheduling needs one."""

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """Return all objects of a kind.

        Raises:
            ListPendingError: They are still arriving.
            ApiError: The cluster did not answer.
        """

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """Return an object by its key: ``namespace/name``, or ``name`` if cluster-wide.

        Raises:
            NotFoundError: There is no such object.
        """

    def watch(
        self,
        kind: type[ObjT],
        resource_version: int,
        notify: Callable[[], None],
    ) -> Watch[ObjT]:
        """Follow the changes of a kind from a version on.

        Args:
            kind: The class of the objects.
            resource_version: The version of a list, or of the last event received.
            notify: Called, from any thread, when `Watch.take` has changes to return, or
                an error to raise.

        Raises:
            ResourceExpiredError: The version is too old: list again.
        """

    def create(self, obj: ObjT) -> ObjT:
        """Store a new object; return it with uid and resource version.

        Raises:
            AlreadyExistsError: The key is taken.
            InvalidError: The object breaks a rule of its kind.
        """

    def update(self, obj: ObjT) -> ObjT:
        """Replace an object whose resource version is still the stored one.

        Raises:
            ConflictError: It was changed meanwhile.
            NotFoundError: It is gone.
        """

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """Delete an object; a pod on a node gets its grace period first.

        Args:
            kind: The class of the object.
            key: Its key.
            uid: If given, only the object with this uid is deleted.
            grace_period_seconds: Overrides the object's own grace period.

        Raises:
            NotFoundError: There is no such object.
            ConflictError: The object has another uid.
        """

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Bind a pod to a node, through the binding subresource.

        Args:
            pod: The caller's version of the pod; its uid must be the stored one.
            node_name: The node.
            annotations: Annotations to add to the pod in the same call; others stay. A
                Bind plugin passes `CycleState.annotations`. Mirrors
                ``setPodNodeAndMetadata`` (Kubernetes v1.36,
                ``pkg/registry/core/pod/storage/storage.go``).

        Raises:
            ConflictError: The pod is bound already, or has another uid now.
            NotFoundError: The pod or the node is gone.
            UnknownOutcomeError: The bind may have happened or not; read the pod.
        """

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Change parts of a pod's status.

        Raises:
            NotFoundError: The pod is gone, or has another uid now.
        """

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change fields of an object's status, through the status subresource.

        Args:
            obj: The caller's version of the object. Its uid and its resource version,
                if it has them, must be the stored ones.
            changes: Field of the status, as named in its class -> new value.

        Returns:
            The object as it is stored now.

        Raises:
            NotFoundError: The object is gone.
            ConflictError: The object was changed meanwhile, or has another uid now.
            InvalidError: The object has no status, or a field or value is not valid.
        """

    def record(self, note: EventNote) -> None:
        """Write an Event. Never fails: an event that cannot be written is dropped."""
