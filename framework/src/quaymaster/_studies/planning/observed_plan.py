"""Observes the simulation of a plan, for a report."""

from collections.abc import Iterable, Sequence
from itertools import islice

from quaymaster._api.objects import ApiObject
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.planning.plans import Plan
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.run import Simulation

__all__ = ["observe_plan"]


def observe_plan(
    objects: Iterable[ApiObject],
    plan: Plan,
    *,
    config: SchedulerConfig,
    registry: PluginRegistry,
    seed: int = 0,
    max_pods: int = MAX_PODS,
) -> ObservedRun:
    """Simulate the input with the nodes of a plan, in its rounds.

    Args:
        objects: The input of the plan.
        plan: The plan; without nodes, the input alone is simulated.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: As for `plan`.
        max_pods: As for `plan`.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
    """
    first, *later = _nodes_by_round(plan)
    with Simulation(
        [*first, *objects],
        config=config,
        registry=registry,
        seed=seed,
        observe=True,
        max_pods=max_pods,
        options=SchedulerOptions(daemon_sets_first=plan.daemon_sets_first),
    ) as simulation:
        simulation.settle()
        for nodes in later:
            for node in nodes:
                simulation.cluster.create(node)
            simulation.settle()
        return simulation.observed("plan")


def _nodes_by_round(plan: Plan) -> Sequence[Sequence[ApiObject]]:
    """Return the nodes of each round; without rounds, all of them."""
    if not plan.rounds:
        return [plan.nodes]
    nodes = iter(plan.nodes)
    of_group = [iter([*islice(nodes, group.nodes)]) for group in plan.groups]
    return [
        [
            node
            for group, count in zip(of_group, planned.nodes, strict=True)
            for node in islice(group, count)
        ]
        for planned in plan.rounds
    ]
