"""The record of a simulation for reports and comparisons."""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.engine.attempts import Attempt
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.scaled_costs import ScaledCourse
from quaymaster._studies.simulation.series import Sample

__all__ = ["ObservedAttempt", "ObservedRun"]


@attrs.frozen(kw_only=True)
class ObservedAttempt(Attempt):
    """An `Attempt` of an observed run; deprecated is only its own attribute.

    Attributes:
        feasible: How many nodes passed all filters. Deprecated: in an `Attempt` these
            are the names; the number is ``feasible_nodes``.
    """

    feasible: int = 0  # type: ignore[assignment]  # promised, and deprecated


@attrs.frozen(kw_only=True, eq=False)
class ObservedRun:
    """The record of an observed simulation.

    Attributes:
        name: Its name in comparisons; may be empty.
        result: The result.
        nodes: The nodes.
        pods: The pods, those that have ended included.
        samples: Numbers and amounts at some moments.
        attempts: Some of the attempts, explained.
        workloads: Pod -> its topmost owner, such as ``Deployment/web``. Pods without an
            owner are missing.
        metrics: The metrics that plugins have of their own, by name.
        scaled: The nodes of its autoscaler, with their cost by workload; None without
            an autoscaler.
    """

    name: str
    result: SimulationResult
    nodes: Sequence[Node] = attrs.field(repr=False)
    pods: Sequence[Pod] = attrs.field(repr=False)
    samples: Sequence[Sample] = attrs.field(repr=False)
    attempts: Sequence[ObservedAttempt] = attrs.field(repr=False)
    workloads: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    metrics: Sequence[PluginMetric] = attrs.field(default=(), repr=False)
    scaled: ScaledCourse | None = attrs.field(default=None, repr=False)
