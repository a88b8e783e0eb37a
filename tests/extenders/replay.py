"""Takes recorded pods through our scheduler, one attempt each."""

from collections.abc import Mapping, Sequence

from quaymaster import ApiObject, Pod
from quaymaster.cluster import EventNote
from quaymaster.config import SchedulerConfig
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import (
    HookError,
    PluginRegistry,
    Scheduler,
    SchedulerOptions,
    SlowHook,
    VirtualClock,
)
from quaymaster.simulation import Explanation
from tests.kit.internals.cycle import explain
from tests.kit.internals.engine import Framework

__all__ = ["Replay"]


class Replay:
    """A cluster in memory with a scheduler; observes the scheduler.

    Args:
        objects: What there is.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        verify: See `SchedulerOptions`.

    Attributes:
        explanation: What was said of the last pod before its attempt.
    """

    def __init__(
        self,
        objects: Sequence[ApiObject],
        config: SchedulerConfig,
        registry: PluginRegistry,
        *,
        verify: int = 0,
    ) -> None:
        clock = VirtualClock()
        self._cluster = InMemoryCluster(clock)
        self._cluster.load(objects)
        self._explains = False
        self.explanation: Explanation | None = None
        self._scheduler = Scheduler(
            self._cluster,
            config,
            registry,
            clock=clock,
            observer=self,
            options=SchedulerOptions(verify=verify),
        )
        self._scheduler.start()

    def attempt(self, pod: Pod, *, explains: bool) -> Pod:
        """Create a pod and try to place it once; return what became of it."""
        self._explains = explains
        self.explanation = None
        self._cluster.create(pod)
        while self._scheduler.turn():
            pass
        return self._cluster.get(Pod, pod.key)

    def totals(self) -> Mapping[str, int]:
        """The nodes of the last explanation with their totals."""
        if self.explanation is None:
            return {}
        return {scores.node: scores.total for scores in self.explanation.scores}

    def attempting(self, pod: Pod, framework: Framework) -> None:
        """Take the attempt apart before it is made."""
        if self._explains:
            name = framework.profile.name
            self.explanation = explain(framework.plain, pod, name)

    def bound(self, pod: Pod, node_name: str) -> None:
        """Nothing to note."""

    def recorded(self, note: EventNote) -> None:
        """Nothing to note."""

    def slow(self, hook: SlowHook) -> None:
        """Nothing to note."""

    def failed(self, error: HookError) -> None:
        """Nothing to note."""
