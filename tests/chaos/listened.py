"""A scheduler that also reports what its observer does not hear of."""

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
    """The listeners to a scheduler.

    Attributes:
        missed: Called with each pod whose deletion was missed, before it is handled.
        sorts: Scheduler name -> its queue sort plugin.
        out_of_turn: Called with a message when a pod is popped out of turn.
        alarms: Hear of attempts that fail.
        changing: Called with each object as it was and as it is, before that is
            handled; None stands for one that was not there, or is gone.
    """

    missed: Callable[[Pod], None]
    sorts: Mapping[str, str]
    out_of_turn: Callable[[str], None]
    alarms: Alarms
    changing: Callable[[ApiObject | None, ApiObject | None], None]


class ListenedScheduler(TappedScheduler):
    """A scheduler with listeners.

    Args:
        listeners: The listeners.
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
