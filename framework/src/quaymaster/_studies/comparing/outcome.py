"""What one variant did with its input, under one seed."""

from collections.abc import Mapping

import attrs

__all__ = ["Decision", "Outcome"]


@attrs.frozen(kw_only=True)
class Decision:
    """What one attempt to find a node for a pod came to.

    Attributes:
        pod: The pod's key, ``namespace/name``.
        node: The node that it was bound to; empty if it got none.
        attempt: The number of the attempt among the pod's own, from 1.
    """

    pod: str
    node: str
    attempt: int


@attrs.frozen(kw_only=True)
class Outcome:
    """What one variant did with its input, under one seed.

    Attributes:
        seed: What decided ties and generated names.
        figures: The figures by name, such as ``pending`` or ``utilization.cpu``.
        decisions: All decisions, in their order.
        places: Workload -> node -> how many of its pods went there; the node is empty
            for those that wait. A workload whose pods have stable names has one entry
            for each pod, since those are not interchangeable.
    """

    seed: int
    figures: Mapping[str, float]
    decisions: tuple[Decision, ...] = attrs.field(repr=False)
    places: Mapping[str, Mapping[str, int]] = attrs.field(repr=False)
