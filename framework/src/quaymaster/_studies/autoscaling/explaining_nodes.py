"""Why an autoscaler removes a node, or does not: `explain_node`."""

from collections.abc import Iterable

import attrs

from quaymaster._api.objects import ApiObject, Node
from quaymaster._base.notices import Notice
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES, PodTimes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory
from quaymaster._studies.simulation.names import NodeNotFoundError
from quaymaster._studies.simulation.results import ProgressFn
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.simulation.scaling import (
    NodeScaling,
    explaining,
    node_scaling,
)

__all__ = ["ExplainedNode", "explain_node"]


@attrs.frozen(kw_only=True)
class ExplainedNode:
    """Why an autoscaler has removed a node, or has not.

    Attributes:
        scaling: The reasons.
        until: The end of the simulation, in seconds since the beginning.
        notices: Warnings for the user.
    """

    scaling: NodeScaling
    until: float
    notices: tuple[Notice, ...] = ()


def explain_node(
    name: str,
    objects: Iterable[ApiObject],
    autoscaler: AutoscalerFactory,
    *,
    config: SchedulerConfig | None = None,
    registry: PluginRegistry | None = None,
    seed: int = 0,
    on_progress: ProgressFn | None = None,
    max_pods: int = MAX_PODS,
    times: PodTimes = DEFAULT_POD_TIMES,
) -> ExplainedNode:
    """Let an autoscaler work until it changes nothing more, and explain a node.

    Args:
        name: The name of the node.
        objects: Nodes, pods, workloads and all else, as for `simulate`.
        autoscaler: Makes the autoscaler.
        config: The scheduler's configuration; by default the default profile.
        registry: Where plugins are found by name; by default the installed plugins.
        seed: Decides what is left to chance.
        on_progress: Called with the progress.
        max_pods: How many pods the workloads may ask for in all.
        times: How long pods need to start and to end.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        AutoscalerError: The autoscaler does not match the cluster.
        NodeNotFoundError: No node ever has that name.
        ProfileError: A profile's plugins cannot be built.
    """
    with Simulation(
        objects,
        config=config,
        registry=registry,
        seed=seed,
        max_pods=max_pods,
        times=times,
        autoscaler=explaining(autoscaler),
    ) as simulation:
        worker = simulation.autoscaler
        if worker is None:
            raise AutoscalerError("autoscaler", "expected one, got none")
        # Before and after the run: nodes of the input may be gone by its end, and the
        # autoscaler may add some.
        names = {node.name for node in simulation.cluster.list(Node).items}
        simulation.settle(on_progress)
        names.update(life.node for life in worker.nodes())
        scaling = node_scaling(worker, name)
        if scaling is None and name in names:
            why = "the autoscaler gives no reason"
            scaling = NodeScaling(node=name, group="", removed=None, why=why)
        if scaling is None:
            raise NodeNotFoundError(name, sorted(names))
        return ExplainedNode(
            scaling=scaling, until=simulation.now, notices=simulation.notices()
        )
