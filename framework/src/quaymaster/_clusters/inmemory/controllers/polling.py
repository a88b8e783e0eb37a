"""Controllers that act again when their next interval begins."""

import math
from collections.abc import Callable
from functools import partial

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.clock import Clock

__all__ = ["Polling"]


class Polling:
    """Marks objects of one kind when their next interval begins.

    Args:
        clock: The cluster's time.
        kind: The kind of the objects.
        mark: Is called with the kind and the key of an object that is due.
        background: Whether a simulation may end before an object is due.
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

    def wait(self, obj: ApiObject, seconds: float) -> None:
        """Mark an object at the next of its intervals, which its creation begins."""
        if obj.key in self._waiting:
            return
        now = self._clock.now()
        created = obj.metadata.creation_timestamp
        begin = min(now if created is None else float(created), now)
        passed = math.floor((now - begin) / seconds)
        self._waiting.add(obj.key)
        due = begin + (passed + 1) * seconds
        self._clock.call_at(
            due, partial(self._wake, obj.key), background=self._is_background
        )

    def _wake(self, key: str) -> None:
        self._waiting.discard(key)
        self._mark(self._kind, key)
