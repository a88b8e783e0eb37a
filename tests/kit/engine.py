"""Private parts of the engine, for tests.

Tests use a scheduler's private parts by these functions only. The tools for tests of
plugins and profiles are in `quaymaster.testing`.
"""

from collections.abc import Mapping

from quaymaster import ApiObject
from quaymaster.config import SchedulerConfig
from quaymaster.scheduler import Scheduler, VirtualClock
from quaymaster.testing import SchedulerHarness
from tests.kit.internals.engine import (
    BindingCycle,
    EngineInformers,
    FailureHandler,
    Framework,
)
from tests.kit.internals.state import Cache

__all__ = [
    "TappedScheduler",
    "be_busy",
    "binding_of",
    "build_profiles",
    "cache_of",
    "informers_of",
    "is_at_rest",
    "scheduler_of",
    "uids_on_nodes",
]


class TappedScheduler(Scheduler):
    """A scheduler that gets the changes of the cluster by calls of a test."""

    def start(self) -> None:
        """Start without informers; the test passes changes by `changed`."""
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
        """Pass a change to the event handlers."""
        self._engine.handlers.changed(kind, old, new, missed=missed)

    @property
    def failures(self) -> FailureHandler:
        """The handler of failed attempts."""
        return self._engine.failures


def scheduler_of(harness: SchedulerHarness) -> Scheduler:
    """Return the scheduler of a harness."""
    return harness._scheduler


def cache_of(scheduler: Scheduler) -> Cache:
    """Return the scheduler's cache of nodes and pods, with the assumed pods."""
    return scheduler.cache


def informers_of(scheduler: Scheduler) -> EngineInformers:
    """Return the scheduler's copies of the cluster's objects."""
    return scheduler.informers


def binding_of(scheduler: Scheduler) -> BindingCycle:
    """Return the binding cycle, which carries out the scheduler's decisions."""
    return scheduler._binding


def build_profiles(
    scheduler: Scheduler, config: SchedulerConfig
) -> Mapping[str, Framework]:
    """Build profiles by scheduler name, with new plugins."""
    return scheduler._runner.build(config)


def uids_on_nodes(harness: SchedulerHarness) -> list[str]:
    """Return the uids of the pods that decisions see on the nodes."""
    return [uid for info in scheduler_of(harness).snapshot for uid in info.pods]


def is_at_rest(harness: SchedulerHarness) -> bool:
    """Whether no attempt has left anything behind."""
    scheduler = scheduler_of(harness)
    return (
        scheduler.queue.in_flight == []
        and scheduler.queue.in_flight_event_count == 0
        and cache_of(scheduler).assumed_count == 0
        and not harness.waiting_pods()
    )


def be_busy(clock: VirtualClock, until: float) -> None:
    """Let time pass without any timer, as if the engine had been busy."""
    clock._now = until
