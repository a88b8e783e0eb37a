"""Tells whether the engine makes progress, so that a simulation knows when to end."""

from collections.abc import Iterable
from typing import Final

from quaymaster._core.contract.clock import Clock
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["Progress"]

# Chosen, not measured: after five failures in a row the default backoff is at its
# maximum (1, 2, 4, 8, 10 seconds), and more tries would only be more of the same.
_TRIES_TO_GIVE_UP_AFTER = 5

# Chosen, not measured: longer than plugins need that go by the time of day.
_LONG_IN_VAIN: Final = 86_400.0


class Progress:
    """Counts the changes of the cluster, and the attempts since the last one.

    Args:
        clock: Knows whether timers are left that may change something.
    """

    __slots__ = ("_attempts_since", "_changes", "_clock", "_seen", "_seen_at")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changes = 0
        self._attempts_since = 0
        self._seen = 0
        self._seen_at = clock.now()

    def note_change(self) -> None:
        """Note that the cluster has changed: a pod that was rejected may fit now."""
        self._changes += 1
        self._attempts_since = 0

    def note_attempt(self, queued: QueuedPod) -> None:
        """Note that a pod is about to be tried."""
        queued.attempted_at_change = self._changes
        if not self._clock.has_foreground_timers:
            self._attempts_since += 1

    def is_stuck(self, pending: int) -> bool:
        """Whether that many pods have been tried again and again to no effect."""
        return self._attempts_since > _TRIES_TO_GIVE_UP_AFTER * (pending + 1)

    def is_in_vain(self, pending: Iterable[QueuedPod]) -> bool:
        """Whether these pods have been tried for a day in which nothing changed.

        It is asked whenever the engine is about to wait.
        """
        now = self._clock.now()
        if self._seen != self._changes:
            self._seen, self._seen_at = self._changes, now
        return now - self._seen_at > _LONG_IN_VAIN and all(
            map(self.has_had_its_chance, pending)
        )

    def has_had_its_chance(self, queued: QueuedPod) -> bool:
        """Whether one more try of this pod would change nothing."""
        if queued.is_gated:
            return True
        errors = queued.consecutive_errors_count
        return queued.attempted_at_change == self._changes and (
            errors == 0 or errors >= _TRIES_TO_GIVE_UP_AFTER
        )
