"""Compares the caches of a scheduler every minute, on its thread."""

import logging
from typing import Final

from quaymaster._core.contract.clock import Clock
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._surfaces.operation.drift import DriftCounter, find_drift

__all__ = ["DriftWatch"]

# Comparing 100,000 pods takes a tenth of a second, so more often would cost too much.
_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


class DriftWatch:
    """Compares every minute, as a background timer of the scheduler's clock.

    Args:
        scheduler: The scheduler.
        clock: Its clock.

    Attributes:
        counter: Counts the differences.
    """

    def __init__(self, scheduler: Scheduler, clock: Clock) -> None:
        self.counter = DriftCounter()
        self._scheduler = scheduler
        self._clock = clock

    def start(self) -> None:
        """Start to compare; called on the scheduler's thread."""
        self._clock.call_later(_SECONDS, self._compare, background=True)

    def _compare(self) -> None:
        for difference in self.counter.take(find_drift(self._scheduler)):
            _log.error(
                "the caches have drifted: %s %s is %s: %s",
                difference.kind,
                difference.key,
                difference.difference,
                difference.detail,
                extra={difference.kind.lower(): difference.key},
            )
        self.start()
