"""Decides whether the engine makes progress, so that a simulation can end."""

from collections.abc import Iterable
from typing import Final

from quaymaster._core.contract.clock import Clock, VirtualClock
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._core.engine.standstill import Standstill
from quaymaster._core.queue.queue_record import QueueRecord

__all__ = ["Progress"]

# Chosen, not measured: after five failures in a row the default backoff is at its
# maximum (1, 2, 4, 8, 10 seconds), and more attempts would end the same way.
_TRIES_TO_GIVE_UP_AFTER = 5

_READ: Final = 16
"""The last attempts, of which the error about an endless loop shows some."""

# Chosen, not measured: plugins that depend on the time of day need up to a day.
_IDLE_SECONDS_TO_GIVE_UP_AFTER: Final = 86_400.0


class Progress:
    """Counts the changes of the cluster, and the attempts since the last one.

    Args:
        clock: Has the timers that may still change the cluster.
        history: The last attempts, for the error about an endless loop.

    Attributes:
        attempts_since: The attempts since the last change while nothing was to come.
    """

    __slots__ = (
        "_changes",
        "_clock",
        "_seen",
        "_seen_at",
        "_standstill",
        "attempts_since",
    )

    def __init__(self, clock: Clock, history: AttemptHistory | None = None) -> None:
        self._clock = clock
        self._standstill = (
            Standstill(clock, lambda: history.last(_READ) if history else ())
            if isinstance(clock, VirtualClock)
            else None
        )
        self._changes = 0
        self.attempts_since = 0
        self._seen = 0
        self._seen_at = clock.now()

    def note_change(self) -> None:
        """Note that the cluster has changed, so that a rejected pod may fit now."""
        self._changes += 1
        self.attempts_since = 0

    def note_attempt(self, queued: QueueRecord) -> None:
        """Note that a pod or a group is about to be tried.

        Raises:
            EndlessLoopError: Virtual time stands still, because it is tried for ever.
        """
        if self._standstill is not None:
            self._standstill.note_attempt(queued.key)
        queued.attempted_at_change = self._changes
        if not self._clock.has_foreground_timers:
            self.attempts_since += 1

    def note_idle_turn(self) -> None:
        """Note a turn of the engine that handled something, but tried no pod.

        Raises:
            EndlessLoopError: Virtual time stands still, because there is always
                something to handle.
        """
        if self._standstill is not None:
            self._standstill.note_idle_turn()

    def is_stuck(self, pending: int) -> bool:
        """Whether all pending pods were tried several times without any change."""
        return self.attempts_since > _TRIES_TO_GIVE_UP_AFTER * (pending + 1)

    def is_idle(self, pending: Iterable[QueueRecord]) -> bool:
        """Whether these pods have been tried for a day without any change.

        It is called whenever the engine is about to wait.
        """
        now = self._clock.now()
        if self._seen != self._changes:
            self._seen, self._seen_at = self._changes, now
        return now - self._seen_at > _IDLE_SECONDS_TO_GIVE_UP_AFTER and all(
            map(self.is_settled, pending)
        )

    def is_settled(self, queued: QueueRecord) -> bool:
        """Whether one more attempt for this pod or group would change nothing.

        A group is retried for ever, and nothing wakes it. So it is settled when it has
        been tried since the last change.
        """
        if queued.is_gated:
            return True
        errors = queued.consecutive_errors_count
        return queued.attempted_at_change == self._changes and (
            errors == 0 or errors >= _TRIES_TO_GIVE_UP_AFTER
        )
