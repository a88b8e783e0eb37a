"""The queue's record of one group of pods.

Mirrors ``QueuedPodGroupInfo`` and ``PodGroupMemberPodsOrderingFunc`` (Kubernetes v1.37,
``pkg/scheduler/framework/types.go``).
"""

import math
from bisect import insort
from typing import Any

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import GroupObject
from quaymaster._core.contract.queueing import QueueName
from quaymaster._core.queue.queued_pod import NO_PLUGINS, QueuedPod

__all__ = ["QueuedGroup", "entity_key", "order_in_group"]


def entity_key(group_key: str) -> str:
    """Return the ``entity_key`` of a PodGroup, whose object may not exist.

    Args:
        group_key: ``namespace/name`` of the group.
    """
    return f"podgroup/{group_key}"


class QueuedGroup(msgspec.Struct, eq=False, kw_only=True):
    """A group with its queued pods and its history; implements `QueuedPodInfo`.

    All queued pods of the group are in this record, and move together. Its record lasts
    until none of its pods is queued any longer. Only the queue writes to it.

    A plugin sorts a group by its first pod, with the priority of the group's object.

    Attributes:
        group: The object, a root; replaced by each newer version.
        key: The key in the queue: ``entity_key`` of the group.
        pods: The queued pods, in the order in which they are tried.
        timestamp: When its first pod arrived, or when it was last tried, seconds since
            the Unix epoch.
        initial_attempt_timestamp: When it first became active, or None.
        attempts: The number of times that it was popped.
        unschedulable_count: The number of attempts that ended with a rejection.
        consecutive_errors_count: The number of attempts in a row that ended with an
            error.
        gating_plugin: The PreEnqueue plugin that gates one of its pods, and so all of
            them; or empty.
        held: A pod whose gating plugin gates all pods but the joined ones, with one
            answer for all of them; or None.
        called: With `held`, the pods for which the gates were called last, by key.
        joined: With `held`, the pods that joined since then, by key.
        backoff_expiration: The last whole second of its backoff; None before it is
            computed after a failure.
        was_flushed: Whether a flush woke it last, and not an event.
        gate_called_at: When a flush last called the plugin that gates it.
        queue: The queue that it is in; None while it is in flight or removed.
        attempted_at_change: The engine's count of changes when it was last tried.
        sort_key: Its key in its heap.
        ticket: The ticket of its entry in a heap; 0 if it is in none.
    """

    group: GroupObject
    key: str
    timestamp: float
    pods: list[QueuedPod] = msgspec.field(default_factory=list)
    initial_attempt_timestamp: float | None = None
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    gating_plugin: str = ""
    held: QueuedPod | None = None
    called: dict[str, QueuedPod] = msgspec.field(default_factory=dict)
    joined: dict[str, QueuedPod] = msgspec.field(default_factory=dict)
    backoff_expiration: float | None = None
    was_flushed: bool = False
    gate_called_at: float = -math.inf
    queue: QueueName | None = None
    attempted_at_change: int = -1
    sort_key: object = None
    ticket: int = 0

    @classmethod
    def of(cls, group: GroupObject, first: QueuedPod) -> "QueuedGroup":
        """Return the record of a group whose first pod enters the queue."""
        return cls(
            group=group,
            key=group.entity_key,
            timestamp=first.timestamp,
            initial_attempt_timestamp=first.initial_attempt_timestamp,
            pods=[first],
        )

    @property
    def group_key(self) -> str:
        """``namespace/name`` of the group."""
        return self.group.key

    @property
    def priority(self) -> int:
        """The priority of the object; 0 if it has none."""
        return self.group.priority

    @property
    def pod(self) -> Pod:
        """The first pod, with the priority of the group: it sorts the group."""
        first = self.pods[0].pod
        if first.priority == self.priority:
            return first
        return replace(first, spec=replace(first.spec, priority=self.priority))

    @property
    def unschedulable_plugins(self) -> frozenset[str]:
        """The plugins that rejected it: none, since only its pods have them."""
        return NO_PLUGINS

    @property
    def pending_plugins(self) -> frozenset[str]:
        """The plugins that returned Pending: none, as above."""
        return NO_PLUGINS

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose events may help: none, only a gated group has events."""
        return NO_PLUGINS

    @property
    def unhelped_since(self) -> float:
        """The start of its time behind a gate."""
        return max(self.timestamp, self.gate_called_at)

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin gates one of its pods."""
        return self.gating_plugin != ""

    @staticmethod
    def order(queued: QueuedPod) -> tuple[Any, ...]:
        """Return a sort key of a pod among the pods."""
        return order_in_group(queued)

    def add(self, queued: QueuedPod) -> None:
        """Add a pod in the order of the pods."""
        insort(self.pods, queued, key=self.order)
        if self.held is not None:
            self.joined[queued.key] = queued

    def remove(self, queued: QueuedPod) -> None:
        """Remove one of the pods."""
        self.pods.remove(queued)
        self.called.pop(queued.key, None)
        self.joined.pop(queued.key, None)
        # The answer that holds the group was given for this pod.
        if self.held is not None and self.held.key == queued.key:
            self.release()

    def hold(self, queued: QueuedPod) -> None:
        """Note that the plugin that gates a pod gates all pods, with one answer.

        Args:
            queued: The pod.
        """
        self.held = queued
        self.called = {member.key: member for member in self.pods}

    def release(self) -> None:
        """Note that the gates must be called for each pod."""
        self.held = None
        self.called.clear()
        self.joined.clear()

    def __repr__(self) -> str:
        where = "in flight" if self.queue is None else self.queue.value
        return (
            f"QueuedGroup({self.key!r}, {where}, pods={len(self.pods)},"
            f" attempts={self.attempts})"
        )


def order_in_group(queued: QueuedPod) -> tuple[int, int, float]:
    """Return the place of a pod in its group: older pods have more attempts.

    Pods with the same timestamp keep the order in which they were added: upstream's
    clock is fine enough to separate them, and virtual time stands still meanwhile.
    """
    return -queued.pod.priority, -queued.attempts, queued.timestamp
