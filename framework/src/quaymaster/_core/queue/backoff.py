"""The backoff of failed pods.

Mirrors ``getBackoffTime`` and ``calculateBackoffDuration`` (Kubernetes v1.36 and v1.37,
``pkg/scheduler/backend/queue/backoff_queue.go``).
"""

import math

import msgspec

from quaymaster._core.queue.queue_record import QueueRecord

__all__ = ["BackoffPolicy"]


class BackoffPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Doubles the wait with every failure, up to a limit.

    Backoffs end with whole seconds of the wall clock, so that all pods of one second
    become active together and priority decides among them.

    Attributes:
        initial_seconds: The first wait.
        max_seconds: The longest wait; 0 turns backoff off.
    """

    initial_seconds: float = 1.0
    max_seconds: float = 10.0

    def duration(self, failures: int, pods: int = 1) -> float:
        """Return the wait after a number of failures, in seconds.

        Args:
            failures: The number of failures.
            pods: The number of pods that wait together; the limit grows with its
                square root.
        """
        limit = self.max_seconds
        # As upstream, only the longest wait grows with the group, not the first: a
        # large group that failed once waits as long as a pod
        # (``calculateBackoffDuration`` in
        # pkg/scheduler/backend/queue/backoff_queue.go).
        if pods > 1:
            limit *= math.sqrt(pods)
        doublings = failures - 1
        # The limit is halved instead of doubling the wait, which could overflow.
        if self.initial_seconds > math.ldexp(limit, -doublings):
            return limit
        return math.ldexp(self.initial_seconds, doublings)

    def expiration(self, queued: QueueRecord, pods: int = 1) -> float | None:
        """Return the last whole second of a backoff; None if it has none.

        It is computed once after each failure, and stored in the record.

        Args:
            queued: A pod, or a group.
            pods: The number of queued pods of the group.
        """
        if not self.max_seconds:
            return None
        # The errors in a row alone, if the last attempt ended with one. Rejections
        # before them do not prolong the wait after an API server was away for a moment.
        failures = queued.consecutive_errors_count or queued.unschedulable_count
        if not failures:
            return None
        # Computed once per failure and kept, because the size of a group may change
        # while it waits; upstream's wait does not change with it either.
        if queued.backoff_expiration is None:
            end = queued.timestamp + self.duration(failures, pods)
            # Upstream truncates to its ordering window of a second (``alignToWindow``).
            queued.backoff_expiration = float(math.floor(end))
        return queued.backoff_expiration

    def is_backing_off(self, queued: QueueRecord, now: float) -> bool:
        """Whether a pod still has to wait; its last second is part of the backoff."""
        expiration = self.expiration(queued)
        # Not >: ``isEntityBackingoff`` keeps pods through the whole second in which the
        # backoff ends, so that a backoff of 1 s takes between 1 and 2 s.
        return expiration is not None and expiration >= math.floor(now)
