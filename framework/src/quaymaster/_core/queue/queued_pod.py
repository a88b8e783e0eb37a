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

    A pod keeps its record from its arrival until it is bound or deleted, in the queue
    and in flight. Only the queue and the failure handler write to it.

    Attributes:
        pod: The pod; replaced by each newer version.
        key: ``namespace/name``: queues identify pods by it, all other parts by uid.
        timestamp: When it arrived or last failed, seconds since the Unix epoch. It is
            not changed by moves between queues and by updates of the pod.
        initial_attempt_timestamp: When it first became active, or None.
        attempts: The number of times that it was popped.
        unschedulable_count: The number of attempts that ended with a rejection.
        consecutive_errors_count: The number of attempts in a row that ended with an
            error.
        unschedulable_plugins: The plugins that rejected it, including gates.
        pending_plugins: The plugins that returned Pending.
        gating_plugin: The PreEnqueue plugin that gates it, or empty.
        backoff_expiration: The last whole second of its backoff; None before it is
            computed after a failure.
        was_flushed: Whether it left the unschedulable pods by timeout, not by an event.
        gate_called_at: When a flush last called the plugin that gates it.
        queue: The queue that it is in; None while it is in flight or removed.
        attempted_at_change: The engine's count of changes when this pod was last tried.
            If the count is still the same, another attempt would end the same way.
        attempt_begun: When its last attempt began, by the clock of the metrics; only
            written with metrics.
        sort_key: Its key in its heap.
        ticket: The ticket of its entry in a heap; 0 if it is in none.
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
    gate_called_at: float = -math.inf
    queue: QueueName | None = None
    attempted_at_change: int = -1
    attempt_begun: float = 0.0
    sort_key: object = None
    ticket: int = 0

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose events may help this pod."""
        if not self.pending_plugins:
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def unhelped_since(self) -> float:
        """The start of its time among the unschedulable pods."""
        return max(self.timestamp, self.gate_called_at)

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin gates it."""
        return self.gating_plugin != ""

    def __repr__(self) -> str:
        where = "in flight" if self.queue is None else self.queue.value
        return f"QueuedPod({self.key!r}, {where}, attempts={self.attempts})"
