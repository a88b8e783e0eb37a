"""Schedules recorded pods with our scheduler, one attempt each."""

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
    """A cluster in memory with a scheduler, which it observes.

    Args:
        objects: The cluster's objects.
        config: The scheduler's configuration.
        registry: The registry of plugins by name.
        verify: See `SchedulerOptions`.

    Attributes:
        explanation: The explanation of the last pod, made before its attempt.
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
        """Create a pod, try once to schedule it, and return the pod after that."""
        self._explains = explains
        self.explanation = None
        self._cluster.create(pod)
        while self._scheduler.turn():
            pass
        return self._cluster.get(Pod, pod.key)

    def totals(self) -> Mapping[str, int]:
        """Return the nodes of the last explanation with their totals."""
        if self.explanation is None:
            return {}
        return {scores.node: scores.total for scores in self.explanation.scores}

    def attempting(self, pod: Pod, framework: Framework) -> None:
        """Explain the attempt before it is made."""
        if self._explains:
            name = framework.profile.name
            self.explanation = explain(framework.plain, pod, name)

    def bound(self, pod: Pod, node_name: str) -> None:
        """Ignore bindings."""

    def recorded(self, note: EventNote) -> None:
        """Ignore Events."""

    def slow(self, hook: SlowHook) -> None:
        """Ignore slow hooks."""

    def failed(self, error: HookError) -> None:
        """Ignore failed hooks."""
