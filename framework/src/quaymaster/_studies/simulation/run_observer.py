"""The observer behind `observe`: samples, and some attempts with their reasons."""

from typing import TYPE_CHECKING, Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.history import History
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.owners import top_owners
from quaymaster._studies.simulation.sampled_attempts import SampledAttempts
from quaymaster._studies.simulation.scaled_costs import scaled_course
from quaymaster._studies.simulation.series import Series

if TYPE_CHECKING:  # it needs this module
    from quaymaster._studies.simulation.run import Simulation

__all__ = ["RunObserver", "observed_run"]

_SAMPLES: Final = 1000
"""How many samples are kept at most: as many as a chart has pixels."""


class RunObserver:
    """Takes samples of a simulation, and explains some attempts, as `observe` does.

    A `SimulationObserver`. To explain an attempt, it calls PreFilter, Filter and Score
    plugins once more; these calls are not reported to hook observers.

    Args:
        name: The name of the run in comparisons.

    Attributes:
        run: The observed run; None until the simulation has ended without an error.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name
        self.run: ObservedRun | None = None

    def begin(self, simulation: "Simulation", /) -> None:
        """Begin to take samples."""
        self._series = Series(simulation.scheduler, _SAMPLES)
        self._attempts = SampledAttempts()
        scaler = simulation.autoscaler
        self._history = None if scaler is None else History(simulation.cluster)
        simulation.follow_attempts(_Sampling(simulation, self._series, self._attempts))
        clock = simulation.cluster.clock
        if isinstance(clock, VirtualClock):
            clock.before_moving(
                lambda: self._series.moment(*simulation.moment(), lasts=True)
            )

    def end(self, simulation: "Simulation", error: BaseException | None, /) -> None:
        """Keep the run, unless an error has ended it."""
        if error is None:
            self.run = self.run_so_far(simulation, self._name)

    def run_so_far(self, simulation: "Simulation", name: str) -> ObservedRun:
        """Return the run as it is now.

        Args:
            simulation: The simulation that has begun.
            name: The name of the run in comparisons.
        """
        run = observed_run(simulation, name, self._series, self._attempts)
        if self._history is None or simulation.autoscaler is None:
            return run
        self._history.catch_up()
        course = scaled_course(simulation.autoscaler.nodes(), self._history)
        return attrs.evolve(run, scaled=course)


class _Sampling:
    """Takes a sample before each attempt; implements `FollowsAttempts`."""

    calls_hooks = True

    def __init__(
        self, simulation: "Simulation", series: Series, attempts: SampledAttempts
    ) -> None:
        self._simulation = simulation
        self._series = series
        self._attempts = attempts

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        self._series.moment(*self._simulation.moment())
        self._attempts.begin(pod, framework, now)

    def fail(self, pod: Pod, failure: Failure) -> None:
        self._attempts.fail(pod, failure)

    def bind(self, pod: Pod, node_name: str) -> None:
        self._attempts.bind(pod, node_name)

    def preempt(self, victim: str, by: str) -> None:
        self._attempts.preempt(victim, by)


def observed_run(
    simulation: "Simulation",
    name: str,
    series: Series | None = None,
    attempts: SampledAttempts | None = None,
) -> ObservedRun:
    """Return a simulation as it is now, with samples and attempts if there are any."""
    pods = simulation.cluster.list(Pod).items
    return ObservedRun(
        name=name,
        result=simulation.result(),
        nodes=simulation.cluster.list(Node).items,
        pods=pods,
        samples=(*series.samples(), series.now(*simulation.moment())) if series else (),
        attempts=attempts.attempts() if attempts else (),
        workloads=top_owners(pods, simulation.cluster),
        metrics=simulation.scheduler.plugin_metrics(),
    )
