"""An episode: a run that stops at each decision."""

from collections.abc import Iterator, Sequence

from quaymaster._api.objects import Pod
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.experiments.inputs import Disruption, Workload
from quaymaster._studies.simulation.driven import Run
from quaymaster._studies.simulation.steps import Step
from quaymaster._studies.simulation.upcoming import Upcoming

__all__ = ["Episode"]


class Episode:
    """Plays a workload up to each decision: a pod with at least one feasible node.

    Pods that fit nowhere are also tried, so that they may preempt others.

    Args:
        workload: The workload.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: The seed of the scheduler.
        options: Other settings of the scheduler.

    Attributes:
        run: The run.
        upcoming: The next pod to place; None after all arrivals, when the cluster has
            settled.
    """

    def __init__(
        self,
        workload: Workload,
        *,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int,
        options: SchedulerOptions | None = None,
    ) -> None:
        self.run = Run(
            workload.objects,
            config=config,
            registry=registry,
            seed=seed,
            options=options,
        )
        self._scheduler = self.run.simulation.scheduler
        self._workload = workload
        self._steps: list[Step] = []
        self._leaves = ""
        self._decisions = self._play()
        self.upcoming = next(self._decisions, None)

    def expected(self) -> Upcoming:
        """Return the next pod to place.

        Raises:
            RuntimeError: The episode is over.
        """
        if self.upcoming is None:
            raise RuntimeError("the episode is over: reset the environment")
        return self.upcoming

    def place(self, row: int) -> Sequence[Step]:
        """Place the pod on a feasible node, and continue to the next decision.

        Args:
            row: The node's row.

        Returns:
            All attempts that were made, that of the pod first.
        """
        upcoming = self.expected()
        [node] = upcoming.nodes.names_at(slice(row, row + 1))
        self._tried(self.run.attempt(on=node))
        return self._go_on()

    def turn_away(self) -> Sequence[Step]:
        """Delete the pod, and continue to the next decision; see `place`."""
        self.run.delete(self.expected().pod)
        return self._go_on()

    def close(self) -> None:
        """End the scheduler and its plugins; later calls do nothing."""
        self.run.close()

    def _go_on(self) -> Sequence[Step]:
        self.upcoming = next(self._decisions, None)
        steps, self._steps = self._steps, []
        return steps

    def _play(self) -> Iterator[Upcoming]:
        """Play the workload, and yield at each decision."""
        yield from self._ready()
        for arrival in self._workload.arrivals:
            yield from self._until(arrival.at)
            if isinstance(arrival, Disruption):
                arrival.change.apply(self.run.simulation)
                yield from self._ready()
                continue
            stored = self.run.create(arrival.made())
            if self._workload.turn_away and isinstance(stored, Pod):
                self._leaves = stored.metadata.uid
            yield from self._ready()
        while not self._scheduler.is_stuck and self._scheduler.pass_time():
            yield from self._ready()

    def _until(self, at: float) -> Iterator[Upcoming]:
        """Let time pass; pods may become ready meanwhile."""
        clock, ahead = self.run.cluster.clock, at - self.run.now
        if ahead <= 0:
            return
        end = clock.now() + ahead
        # A wait ends at the next timer, so one is needed at the end itself.
        timer = clock.call_at(end, lambda: None)
        while clock.now() < end:
            self.run.wait()
            yield from self._ready()
        timer.cancel()

    def _ready(self) -> Iterator[Upcoming]:
        while not self._scheduler.is_stuck:
            upcoming = self.run.peek()
            if upcoming is None:
                return
            if len(upcoming.rows):
                yield upcoming
            else:
                self._tried(self.run.attempt())

    def _tried(self, step: Step | None) -> None:
        if step is None:
            return
        self._steps.append(step)
        is_out = not (step.node or step.nominated_node)
        if is_out and step.pod.metadata.uid == self._leaves:
            self.run.delete(step.pod)
