"""A scheduler that reports more than its observer gets."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from quaymaster import ApiObject, Pod
from quaymaster.scheduler import Clock
from tests.chaos.alarms import Alarms
from tests.chaos.order import OrderWatch
from tests.kit.engine import TappedScheduler

__all__ = ["ListenedScheduler", "Listeners"]


@attrs.frozen(kw_only=True)
class Listeners:
    """Callbacks for what a scheduler does.

    Attributes:
        missed: Is called with each pod whose deletion was missed, before it is handled.
        sorts: Scheduler name -> its queue sort plugin.
        out_of_turn: Is called with a message when a pod is popped out of turn.
        alarms: Check the failed attempts.
        changing: Is called with the old and the new object of a change, before that is
            handled; None for a new or a deleted object.
    """

    missed: Callable[[Pod], None]
    sorts: Mapping[str, str]
    out_of_turn: Callable[[str], None]
    alarms: Alarms
    changing: Callable[[ApiObject | None, ApiObject | None], None]


class ListenedScheduler(TappedScheduler):
    """A scheduler with callbacks.

    Args:
        listeners: The callbacks.
        arguments: The positional arguments of `Scheduler`.
        clock: The scheduler's time.
        options: Its keyword arguments.
    """

    def __init__(
        self, listeners: Listeners, *arguments: Any, clock: Clock, **options: Any
    ) -> None:
        self._listeners = listeners
        super().__init__(*arguments, clock=clock, **options)
        listeners.alarms.watch(self.failures)
        OrderWatch(self.queue, clock, listeners.sorts, listeners.out_of_turn)

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        self._listeners.changing(old, new)
        if missed and isinstance(old, Pod):
            self._listeners.missed(old)
        super().changed(kind, old, new, missed=missed)
