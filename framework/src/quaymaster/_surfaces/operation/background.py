"""Compares the caches of a scheduler now and then, on its thread."""

import logging
from typing import Final

from quaymaster._core.contract.clock import Clock
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._surfaces.operation.drift import DriftCounter, held_wrongly

__all__ = ["DriftWatch"]

# Chosen, not measured: comparing 100,000 pods takes a tenth of a second.
_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


class DriftWatch:
    """Compares every minute, as a background timer of the scheduler's clock.

    Args:
        scheduler: The scheduler.
        clock: Its clock.

    Attributes:
        counter: Counts what was found.
    """

    def __init__(self, scheduler: Scheduler, clock: Clock) -> None:
        self.counter = DriftCounter()
        self._scheduler = scheduler
        self._clock = clock

    def start(self) -> None:
        """Begin to compare; on the scheduler's thread."""
        self._clock.call_later(_SECONDS, self._compare, background=True)

    def _compare(self) -> None:
        for one in self.counter.take(held_wrongly(self._scheduler)):
            _log.error(
                "the caches have drifted: %s %s is %s: %s",
                one.kind,
                one.key,
                one.difference,
                one.detail,
                extra={one.kind.lower(): one.key},
            )
        self.start()
