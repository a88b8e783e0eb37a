"""What a simulation leaves behind for those who look at it: reports, comparisons."""

from collections.abc import Sequence

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.engine.attempts import Attempt
from quaymaster._studies.simulation.results import SimulationResult
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
    """A simulation that was watched, as it stands.

    Attributes:
        name: What to call it beside others; may be empty.
        result: The result.
        nodes: The nodes.
        pods: The pods, those that have ended included.
        samples: How things stood from time to time.
        attempts: Some of the attempts, taken apart.
    """

    name: str
    result: SimulationResult
    nodes: Sequence[Node] = attrs.field(repr=False)
    pods: Sequence[Pod] = attrs.field(repr=False)
    samples: Sequence[Sample] = attrs.field(repr=False)
    attempts: Sequence[ObservedAttempt] = attrs.field(repr=False)
