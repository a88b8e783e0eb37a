"""What one variant did with its input, under one seed."""

from collections.abc import Mapping

import attrs

from quaymaster._studies.simulation.autoscaled_figures import autoscaled_figures, until
from quaymaster._studies.simulation.autoscaler import AutoscaledNode

__all__ = ["Decision", "Outcome"]


@attrs.frozen(kw_only=True)
class Decision:
    """The result of one attempt to find a node for a pod.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        node: The node that it was bound to; empty if it got none.
        attempt: The number of the attempt among the pod's own, from 1; 0 if the pod was
            not tried itself, as its group had failed.
    """

    pod: str
    node: str
    attempt: int


@attrs.frozen(kw_only=True)
class Outcome:
    """What one variant did with its input, under one seed.

    Attributes:
        seed: The seed that decided ties and generated names.
        figures: The figures by name, such as ``pending`` or ``utilization.cpu``.
        decisions: All decisions, in their order.
        places: Workload -> node -> how many of its pods are there; the node is empty
            for pending pods. A workload whose pods have stable names has one entry per
            pod, since these pods are not interchangeable.
        seconds: When the simulation had settled, since its beginning.
        autoscaled: The nodes of its autoscaler; None without one.
        has_settled: Whether the simulation had settled when it ended.
    """

    seed: int
    figures: Mapping[str, float]
    decisions: tuple[Decision, ...] = attrs.field(repr=False)
    places: Mapping[str, Mapping[str, int]] = attrs.field(repr=False)
    seconds: float = 0.0
    autoscaled: tuple[AutoscaledNode, ...] | None = attrs.field(
        default=None, repr=False
    )
    has_settled: bool = True

    def over(self, seconds: float) -> "Outcome":
        """Return the outcome with the cost of nodes until a later time.

        Variants settle at different times; their costs are compared over the longest.
        """
        if self.autoscaled is None:
            return self
        lives = until(self.autoscaled, seconds)
        return attrs.evolve(self, figures={**self.figures, **autoscaled_figures(lives)})
