"""A scheduler that tells what it does not tell anybody else."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from quaymaster import ApiObject, Pod
from quaymaster.scheduler import Clock
from tests.chaos.alarms import Alarms
from tests.chaos.order import OrderWatch
from tests.kit.engine import TappedScheduler

__all__ = ["Ears", "ListenedScheduler"]


@attrs.frozen(kw_only=True)
class Ears:
    """Who is told.

    Attributes:
        missed: Told of each pod whose deletion was missed, before anything is done.
        sorts: Scheduler name -> its queue sort plugin.
        out_of_turn: Told of what was popped out of turn.
        alarms: Told of attempts that fail.
    """

    missed: Callable[[Pod], None]
    sorts: Mapping[str, str]
    out_of_turn: Callable[[str], None]
    alarms: Alarms


class ListenedScheduler(TappedScheduler):
    """A scheduler with somebody to listen to it.

    Args:
        ears: Who does.
        arguments: What `Scheduler` takes.
        clock: Its time.
        options: What else it takes.
    """

    def __init__(
        self, ears: Ears, *arguments: Any, clock: Clock, **options: Any
    ) -> None:
        self._ears = ears
        super().__init__(*arguments, clock=clock, **options)
        ears.alarms.watch(self.failures)
        OrderWatch(self.queue, clock, ears.sorts, ears.out_of_turn)

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        if missed and isinstance(old, Pod):
            self._ears.missed(old)
        super().changed(kind, old, new, missed=missed)
