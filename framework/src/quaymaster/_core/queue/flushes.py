"""Flushes the queue at upstream's instants, but only if a flush would do anything.

Upstream flushes its backoff queues at every whole second of the wall clock, and looks
for pods that have been unschedulable for too long every 30 seconds
(``PriorityQueue.Run``, Kubernetes v1.36,
``pkg/scheduler/backend/queue/scheduling_queue.go``). Most of these flushes would move
no pod, and with a virtual clock each of them costs as much as real work.
"""

import math
from collections.abc import Callable

from quaymaster._core.contract.clock import Clock
from quaymaster._core.queue.alarm import Alarm

__all__ = ["Flushes"]

UNSCHEDULABLE_FLUSH_SECONDS = 30.0
"""The interval at which upstream looks for pods that are unschedulable for too long."""


class Flushes:
    """Calls the two flushes when a pod is due.

    Args:
        clock: Runs the timers.
        max_in_unschedulable_seconds: The maximum time that a pod stays unschedulable.
        flush_backoff: Makes the pods active whose backoff is over.
        flush_unschedulable: Moves the pods that are unschedulable since before a time.
    """

    def __init__(
        self,
        clock: Clock,
        max_in_unschedulable_seconds: float,
        flush_backoff: Callable[[], None],
        flush_unschedulable: Callable[[float], None],
    ) -> None:
        self._clock = clock
        self._max_age = max_in_unschedulable_seconds
        self._flush_backoff = flush_backoff
        self._flush_unschedulable = flush_unschedulable
        self._started_at: float | None = None
        self._is_resting = False
        self._backoff_alarm = Alarm(clock, flush_backoff)
        self._unschedulable_alarm = Alarm(clock, self._unschedulable_due)

    def start(self) -> None:
        """Start the flushes; the 30 seconds are counted from here."""
        self._started_at = self._clock.now()
        self._flush_backoff()
        self._flush_unschedulable(-math.inf)

    def rest(self, is_resting: bool) -> None:
        """Pause the flushes, or resume them."""
        if is_resting == self._is_resting:
            return
        self._is_resting = is_resting
        if is_resting:
            self._backoff_alarm.cancel()
            self._unschedulable_alarm.cancel()
        else:
            self._flush_backoff()
            self._flush_unschedulable(-math.inf)

    def expect_backoff(self, expiration: float) -> None:
        """Set the alarm for a pod that backs off through the second ``expiration``."""
        if self._started_at is not None and not self._is_resting:
            self._backoff_alarm.set(self.backoff_at(expiration))

    def expect_unschedulable(self, timestamp: float) -> None:
        """Set the alarm for a pod that has been unschedulable since ``timestamp``."""
        due = self.unschedulable_at(timestamp)
        if due is not None and not self._is_resting:
            self._unschedulable_alarm.set(due)

    def backoff_at(self, expiration: float) -> float:
        """Return when a pod becomes active: it waits to the end of the last second."""
        # The next whole second: upstream's flush runs once per second at whole seconds
        # (``waitUntilAlignedWithOrderingWindow``).
        return expiration + 1.0

    def unschedulable_at(self, timestamp: float) -> float | None:
        """Return the next flush at which a pod is too old, or None."""
        start = self._started_at
        if start is None or self._max_age == math.inf:
            return None
        # Strictly older than the limit, and strictly after now.
        latest = max(timestamp + self._max_age, self._clock.now())
        # From the start of the queue in steps of 30 s, not from when the pod came:
        # upstream polls, so that all pods of one interval wake together and compete by
        # priority.
        ticks = math.floor((latest - start) / UNSCHEDULABLE_FLUSH_SECONDS) + 1
        return start + ticks * UNSCHEDULABLE_FLUSH_SECONDS

    def _unschedulable_due(self) -> None:
        # At the same instant upstream's backoff flush comes first.
        self._flush_backoff()
        self._flush_unschedulable(self._clock.now() - self._max_age)
