"""A scheduler that tells what it does not tell anybody else."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from quaymaster import ApiObject, Pod
from quaymaster.scheduler import Scheduler
from tests.chaos.alarms import Alarms
from tests.chaos.order import OrderWatch

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


class ListenedScheduler(Scheduler):
    """A scheduler with somebody to listen to it.

    Args:
        ears: Who does.
        arguments: What `Scheduler` takes.
        options: What else it takes.
    """

    def __init__(self, ears: Ears, *arguments: Any, **options: Any) -> None:
        self._ears = ears
        super().__init__(*arguments, **options)
        ears.alarms.watch(self._failures)
        OrderWatch(self.queue, self._clock, ears.sorts, ears.out_of_turn)

    def start(self) -> None:
        self._runner.start(self)
        self.queue.start()

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
        self._engine.handlers.changed(kind, old, new, missed=missed)
