"""The engine as tests see it: what a scheduler keeps to itself.

A test that looks behind a scheduler does so by these functions only; what tests of
plugins and profiles need is in `quaymaster.testing`.
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
    "build_anew",
    "cache_of",
    "informers_of",
    "is_at_rest",
    "scheduler_of",
    "uids_on_nodes",
]


class TappedScheduler(Scheduler):
    """A scheduler whose news of the cluster a test can listen to."""

    def start(self) -> None:
        """As for any scheduler, but what changes comes by `changed`."""
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
        """Hear of a change, and hand it on."""
        self._engine.handlers.changed(kind, old, new, missed=missed)

    @property
    def failures(self) -> FailureHandler:
        """Who hears of every attempt that fails."""
        return self._engine.failures


def scheduler_of(harness: SchedulerHarness) -> Scheduler:
    """The scheduler in a harness."""
    return harness._scheduler


def cache_of(scheduler: Scheduler) -> Cache:
    """The nodes and pods as a scheduler knows them, assumed pods included."""
    return scheduler.cache


def informers_of(scheduler: Scheduler) -> EngineInformers:
    """The copies that a scheduler has of what is in the cluster."""
    return scheduler.informers


def binding_of(scheduler: Scheduler) -> BindingCycle:
    """What becomes of a scheduler's decisions."""
    return scheduler._binding


def build_anew(
    scheduler: Scheduler, config: SchedulerConfig
) -> Mapping[str, Framework]:
    """Profiles by scheduler name, with plugins that know nothing yet."""
    return scheduler._runner.build(config)


def uids_on_nodes(harness: SchedulerHarness) -> list[str]:
    """The uids of the pods that decisions see on the nodes."""
    return [uid for info in scheduler_of(harness).snapshot for uid in info.pods]


def is_at_rest(harness: SchedulerHarness) -> bool:
    """Whether nothing is left of any attempt."""
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
