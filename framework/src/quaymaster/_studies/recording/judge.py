"""Makes single decisions on the current state of a cluster, and changes nothing."""

from random import Random
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.raised import describe_exception
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.cycle.decisions import Decision, FitError
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.cycle.scoring import Ties
from quaymaster._core.engine.failure import failure_of
from quaymaster._core.engine.framework import queue_profiles
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.queue.profile import CompiledProfiles
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.state.node_table import NodeTable
from quaymaster._studies.recording.compared import Decided
from quaymaster._studies.recording.world import RecordedWorld

__all__ = ["Judge", "Verdict"]

_MOST_DRAWS: Final = 64


@attrs.frozen
class Verdict:
    """The decision of our scheduler.

    Attributes:
        decided: The decision; among several best nodes, the node of the recorded
            scheduler if possible.
        best: How many nodes were equally good.
    """

    decided: Decided
    best: int


class Judge:
    """Decides about pods of a recorded world.

    Args:
        world: The world.
        clock: The clock of the world.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: The seed of random choices in plugins.

    Raises:
        ProfileError: A profile's plugins cannot be built.
    """

    def __init__(
        self,
        world: RecordedWorld,
        clock: VirtualClock,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int,
    ) -> None:
        self._world = world
        self._dice = _Dice(seed)
        self._scheduler = Scheduler(
            world, config, registry, clock=clock, generator=self._dice
        )
        self._queues = CompiledProfiles(
            queue_profiles(self._scheduler.frameworks, config)
        )
        self._is_started = False

    @property
    def schedulers(self) -> frozenset[str]:
        """The scheduler names of the profiles."""
        return frozenset(self._scheduler.frameworks)

    def close(self) -> None:
        """Close the plugins."""
        self._scheduler.close()

    def place_in_queue(self, pod: Pod, number: int) -> object:
        """Return the place of a pod in the queue at its first attempt.

        Args:
            pod: The pod.
            number: The number of its arrival, ascending.

        Returns:
            A key that compares with those of other pods of its scheduler; None if other
            facts may decide when it enters the queue, or no profile has the scheduler's
            name.
        """
        spec = pod.spec
        may_be_gated = (
            spec.scheduling_gates or spec.resource_claims or spec.scheduling_group
        )
        if may_be_gated or spec.scheduler_name not in self._queues:
            return None
        sort_key, _, _ = self._queues[spec.scheduler_name]
        return sort_key(QueuedPod(pod, float(number), pod.key))

    def decide(self, pod: Pod, theirs: Decided) -> Verdict:
        """Decide about a pod.

        Args:
            pod: The pod, whose scheduler name has a profile.
            theirs: The decision of another scheduler, which ours prefers among equally
                good nodes.
        """
        self._catch_up()
        self._dice.index = 0
        verdict = self._decided(pod, theirs.node)
        preferred, sides = theirs.nominated_node, self._dice.sides
        if not preferred or verdict.decided.nominated_node in ("", preferred):
            return verdict
        # Each side costs a whole decision, and there may be thousands of sides.
        for index in range(1, min(sides, _MOST_DRAWS)):
            # Preemption begins at a drawn node, so each side of the dice may have other
            # candidates.
            self._dice.index = index
            other = self._decided(pod, "")
            if other.decided.nominated_node == preferred:
                return attrs.evolve(other, best=sides)
        return verdict

    def _decided(self, pod: Pod, node_name: str) -> Verdict:
        framework = self._scheduler.frameworks[pod.spec.scheduler_name]
        choice = _Choice(node_name)
        # Victims are not evicted in this world; it notes them for one decision.
        self._world.deleted.clear()
        self._dice.sides = 1
        try:
            outcome = framework.algorithm.schedule(CycleState(), pod, choice.pick)
        except Exception as error:
            return Verdict(Decided(message=describe_exception(error)), 0)
        if isinstance(outcome, Decision):
            # If the profile breaks ties itself, there is no choice.
            return Verdict(Decided(node=outcome.node.name), choice.best or 1)
        return Verdict(self._unfit(pod, outcome), 0)

    def explain(self, pod: Pod) -> Explanation:
        """Explain the decision about a pod."""
        self._catch_up()
        name = pod.spec.scheduler_name
        return explain(self._scheduler.frameworks[name].plain, pod, name)

    def _unfit(self, pod: Pod, fit_error: FitError) -> Decided:
        failure = failure_of(fit_error)
        return Decided(
            message=failure.message,
            nominated_node=failure.nominated_node(pod),
            victims=tuple(sorted(self._world.deleted)),
        )

    def _catch_up(self) -> None:
        if not self._is_started:
            self._scheduler.start()
            self._is_started = True
        while self._scheduler.catch_up():
            pass


class _Dice(Random):
    """Chooses a certain one of several equal nodes instead of drawing.

    Attributes:
        index: The number to draw.
        sides: How many numbers the last draw had.
    """

    index = 0
    sides = 1

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Draw from a range; a range from 0 gives the requested number."""
        if stop is not None:
            return super().randrange(start, stop, step)
        self.sides = start
        return min(self.index, start - 1)


class _Choice:
    """Chooses a preferred node if it is among the best ones.

    Args:
        preferred: The preferred node.

    Attributes:
        best: How many best nodes there were.
    """

    def __init__(self, preferred: str) -> None:
        self._preferred = preferred
        self.best = 0

    def pick(self, nodes: NodeTable, rows: Ties) -> int:
        """Choose one of the best nodes: else the first one."""
        numbers = [int(row) for row in rows]
        self.best = len(numbers)
        row = nodes.row_of(self._preferred)
        return row if row is not None and row in numbers else numbers[0]
