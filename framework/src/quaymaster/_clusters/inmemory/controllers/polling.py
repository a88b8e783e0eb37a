"""Controllers that act again when their next interval begins."""

import math
from collections.abc import Callable
from functools import partial
from typing import Final

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.clock import Clock

__all__ = ["Polling"]

_GAP: Final = 4.5
"""How many intervals may pass within a streak: two autoscalers take turns."""

_LONGEST_STREAK: Final = 8


class Polling:
    """Marks objects of one kind when their next interval begins.

    Args:
        clock: The cluster's time.
        kind: The kind of the objects.
        mark: Is called with the kind and the key of an object that is due.
        background: Whether a simulation may end before an object is due.

    An object that is due very often in a row is not marked again, unless it is in the
    background. Two autoscalers of one workload would otherwise undo each other's
    changes for ever.
    """

    def __init__(
        self,
        clock: Clock,
        kind: type[ApiObject],
        mark: Callable[[type[ApiObject], str], None],
        *,
        background: bool = False,
    ) -> None:
        self._clock = clock
        self._kind = kind
        self._mark = mark
        self._is_background = background
        self._waiting: set[str] = set()
        self._streaks: dict[str, tuple[float, int]] = {}

    def wait(self, obj: ApiObject, seconds: float) -> None:
        """Mark an object at the next of its intervals, which its creation begins."""
        if obj.key in self._waiting:
            return
        now = self._clock.now()
        created = obj.metadata.creation_timestamp
        # A creation in the future, by the clock of another cluster, would give a
        # negative number of intervals.
        begin = min(now if created is None else float(created), now)
        passed = math.floor((now - begin) / seconds)
        # Always the next interval, as upstream resyncs at its own pace, whatever
        # happens in between.
        due = begin + (passed + 1) * seconds
        is_endless = self._streak(obj.key, due, seconds) > _LONGEST_STREAK
        if is_endless and not self._is_background:
            return
        self._waiting.add(obj.key)
        self._clock.call_at(
            due, partial(self._wake, obj.key), background=self._is_background
        )

    def _streak(self, key: str, due: float, seconds: float) -> int:
        """Return how often in a row an object has been due, with short gaps."""
        last, streak = self._streaks.get(key, (-math.inf, 0))
        streak = streak + 1 if due - last <= _GAP * seconds else 1
        self._streaks[key] = (due, streak)
        return streak

    def _wake(self, key: str) -> None:
        self._waiting.discard(key)
        self._mark(self._kind, key)
