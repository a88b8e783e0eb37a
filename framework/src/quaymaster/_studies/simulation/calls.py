"""The calls that run a whole simulation: `simulate` and `observe`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.simulation.observers import AnyObserver
from quaymaster._studies.simulation.results import ProgressFn, SimulationResult
from quaymaster._studies.simulation.run import Simulation

if TYPE_CHECKING:
    from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
    from quaymaster._studies.simulation.observed import ObservedRun

__all__ = ["observe", "simulate"]


def simulate(
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
    observers: Iterable[AnyObserver] = (),
    times: PodTimes = DEFAULT_POD_TIMES,
    facts: bool = False,
    autoscaler: "AutoscalerFactory | None" = None,
) -> SimulationResult:
    """Put objects into an in-memory cluster and schedule until it has settled.

    Args:
        objects: Nodes, pods, workloads and all else, as in manifests. Pods with a node
            are bound already.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides the choice between equally good nodes, and generated names.
        on_progress: Called with the progress.
        options: Other settings of the scheduler.
        max_pods: How many pods the workloads may ask for in all.
        observers: What follows the simulation, as for `Simulation`.
        times: How long pods need to start and to end; by default, those of workloads
            start in a few seconds.
        facts: Whether pods without a node have the facts behind their message.
        autoscaler: Makes what adds and removes nodes; by default nothing does.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
        VerificationError: The options ask for decisions to be verified, and one differs
            from the plain algorithm's.
    """
    with Simulation(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        options=options,
        observers=observers,
        max_pods=max_pods,
        times=times,
        autoscaler=autoscaler,
    ) as simulation:
        simulation.settle(on_progress)
        return simulation.result(with_facts=facts)


def observe(
    objects: Iterable[ApiObject],
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    name: str = "",
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    options: SchedulerOptions | None = None,
    max_pods: int = MAX_PODS,
    observers: Iterable[AnyObserver] = (),
    times: PodTimes = DEFAULT_POD_TIMES,
    autoscaler: "AutoscalerFactory | None" = None,
) -> "ObservedRun":
    """Simulate, and keep samples and explained attempts; decisions are the same.

    Args:
        objects: As for `simulate`.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        name: The name of the run in comparisons.
        seed: As for `simulate`.
        on_progress: As for `simulate`.
        options: As for `simulate`.
        max_pods: As for `simulate`.
        observers: As for `simulate`.
        times: As for `simulate`.
        autoscaler: As for `simulate`.

    Raises:
        AdmissionError: As for `simulate`.
        ProfileError: As for `simulate`.
        VerificationError: As for `simulate`.
    """
    with Simulation(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        options=options,
        observe=True,
        observers=observers,
        max_pods=max_pods,
        times=times,
        autoscaler=autoscaler,
    ) as simulation:
        simulation.settle(on_progress)
        return simulation.observed(name)
