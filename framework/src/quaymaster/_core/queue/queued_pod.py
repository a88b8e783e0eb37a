"""The queue's record of one pod.

Mirrors ``QueuedPodInfo`` (Kubernetes v1.36, ``pkg/scheduler/framework/types.go``).
"""

import math

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._core.contract.queueing import QueueName

__all__ = ["NO_PLUGINS", "QueuedPod"]

NO_PLUGINS: frozenset[str] = frozenset()


class QueuedPod(msgspec.Struct, eq=False):
    """A pod with its history in the queue; implements `QueuedPodInfo`.

    The record stays the same from the pod's arrival until it is bound or gone, whether
    it is in the queue or in flight. Only the queue and the failure handler write to it.

    Attributes:
        pod: The pod; replaced whenever a newer object is known.
        key: ``namespace/name``: queues know pods by it, everybody else by uid.
        timestamp: When it arrived or last failed, seconds since the Unix epoch; moves
            between queues and updates of the pod leave it alone.
        initial_attempt_timestamp: When it first became active, or None.
        attempts: How often it has been popped.
        unschedulable_count: How many attempts ended with a rejection.
        consecutive_errors_count: How many attempts in a row ended with an error.
        unschedulable_plugins: The plugins that rejected it, gates included.
        pending_plugins: Those of them that wait for something outside.
        gating_plugin: The PreEnqueue plugin that holds it back, or empty.
        backoff_expiration: The last whole second of its backoff, once worked out since
            the last failure; else None.
        was_flushed: Whether it left the unschedulable pods by timeout, not by an event.
        asked_at: When a flush last asked the gate that holds it back.
        queue: Where it is; None while it is in flight or gone.
        attempted_at_change: The engine's count of changes when this pod was last tried:
            if it has not grown since, trying again would end the same way.
        attempt_begun: When its last attempt began, by the clock of the metrics; written
            only if there are any.
        sort_key: Its key in the heap that it is in.
        ticket: Which entry of a heap stands for it; 0 while none does.
    """

    pod: Pod
    timestamp: float
    key: str
    initial_attempt_timestamp: float | None = None
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    unschedulable_plugins: frozenset[str] = NO_PLUGINS
    pending_plugins: frozenset[str] = NO_PLUGINS
    gating_plugin: str = ""
    backoff_expiration: float | None = None
    was_flushed: bool = False
    asked_at: float = -math.inf
    queue: QueueName | None = None
    attempted_at_change: int = -1
    attempt_begun: float = 0.0
    sort_key: object = None
    ticket: int = 0

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose change of mind could help this pod."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def unhelped_since(self) -> float:
        """Since when its time among the unschedulable pods is counted."""
        return max(self.timestamp, self.asked_at)

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin holds it back."""
        return self.gating_plugin != ""

    def __repr__(self) -> str:
        where = "in flight" if self.queue is None else self.queue.value
        return f"QueuedPod({self.key!r}, {where}, attempts={self.attempts})"
