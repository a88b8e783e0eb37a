"""A pod as the scheduling queue keeps it.

Mirrors ``QueuedPodInfo`` (Kubernetes v1.36, ``pkg/scheduler/framework/types.go``) and
``QueuedEntityInfo`` (k8s.io/kube-scheduler v0.37, ``framework/types.go``).
"""

import enum
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

import attrs

from quaymaster._api.objects import Pod

__all__ = ["PendingPod", "QueueName", "QueuedPodInfo", "SortKey"]


class SortKey(Protocol):
    """A key that ``queue_sort`` orders pods by: a number, a text, a tuple of them."""

    def __lt__(self, other: Any, /) -> bool:  # noqa: ANN401 - of its own kind
        """Whether this one comes first."""


class QueueName(enum.Enum):
    """The queues that a pending pod can be in."""

    ACTIVE = "active"
    """Ready for the next attempt."""

    BACKOFF = "backoff"
    """Retried at the end of its backoff, or earlier when no pod is active."""

    ERROR_BACKOFF = "error backoff"
    """Retried after an error, but never before the end of its backoff."""

    UNSCHEDULABLE = "unschedulable"
    """Rejected or gated, until an event requeues it."""

    INCOMPLETE = "incomplete"
    """Waits for the object of its group, which does not exist."""

    PENDING = "pending"
    """Waits for the end of the attempt with its group."""


@attrs.frozen(kw_only=True)
class PendingPod:
    """A pending pod, with the reasons that the queue has for it.

    Attributes:
        key: ``namespace/name``.
        uid: The pod's uid.
        queue: The queue that it is in.
        gated_by: The PreEnqueue plugin that gates it, or empty.
        rejected_by: The plugins that rejected it, sorted; empty after an error.
        waits_for: The plugins among them that returned Pending, sorted.
        attempts: The number of attempts.
        since: When it arrived or last failed, seconds since the Unix epoch.
        retry_at: When it will be retried if no event requeues it, in seconds since
            the Unix epoch; None if it is active or gated.
        group: ``namespace/name`` of the group that it is queued with, or empty.
        message: What a pod of a group waits for, if it is not an attempt.
    """

    key: str
    uid: str
    queue: QueueName
    gated_by: str
    rejected_by: tuple[str, ...]
    waits_for: tuple[str, ...]
    attempts: int
    since: float
    retry_at: float | None
    group: str = ""
    message: str = ""


class QueuedPodInfo(Protocol):
    """A queued pod or group, as ``queue_sort`` and observers may read it."""

    @property
    def pod(self) -> Pod:
        """The pod itself; of a group the first pod, with the group's priority."""

    @property
    def timestamp(self) -> float:
        """When it entered the queue or last failed, seconds since the Unix epoch."""

    @property
    def initial_attempt_timestamp(self) -> float | None:
        """When it first became active, or None."""

    @property
    def attempts(self) -> int:
        """The number of attempts."""

    @property
    def unschedulable_count(self) -> int:
        """The number of attempts that ended with a rejection."""

    @property
    def consecutive_errors_count(self) -> int:
        """The number of attempts in a row that ended with an error."""

    @property
    def unschedulable_plugins(self) -> AbstractSet[str]:
        """The plugins that rejected it in the last attempt."""

    @property
    def pending_plugins(self) -> AbstractSet[str]:
        """The plugins among them that returned Pending."""

    @property
    def gating_plugin(self) -> str:
        """The PreEnqueue plugin that gates it, or empty."""
