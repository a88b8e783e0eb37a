"""The fields that the records of pods and of groups have in common.

Mirrors ``QueueingParams`` (Kubernetes v1.37, ``pkg/scheduler/framework/types.go``).
"""

from typing import Protocol

from quaymaster._core.contract.queueing import QueueName

__all__ = ["QueueRecord"]


class QueueRecord(Protocol):
    """A pod or a group that is tried as a whole; see `QueuedPod` and `QueuedGroup`."""

    key: str
    timestamp: float
    unschedulable_count: int
    consecutive_errors_count: int
    backoff_expiration: float | None
    sort_key: object
    ticket: int
    attempted_at_change: int
    queue: QueueName | None

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin gates it, so that it is not tried."""
