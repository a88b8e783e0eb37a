"""What a simulation leaves behind for those who look at it: reports, comparisons."""

from collections.abc import Sequence

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.cycle.explanation import NodeScores
from quaymaster._studies.simulation.results import SimulationResult
from quaymaster._studies.simulation.series import Sample

__all__ = ["ObservedAttempt", "ObservedRun", "RejectedNodes"]


@attrs.frozen(kw_only=True)
class RejectedNodes:
    """The nodes that one plugin rejected for the same reasons.

    Attributes:
        plugin: The plugin; empty if PreFilter left the nodes out.
        reasons: Why.
        nodes: How many they are.
        such_as: The names of the first few.
    """

    plugin: str
    reasons: tuple[str, ...]
    nodes: int
    such_as: tuple[str, ...]


@attrs.frozen(kw_only=True)
class ObservedAttempt:
    """An attempt to find a node for a pod, in short.

    Attributes:
        pod: The pod's key.
        number: Which attempt of the pod it was, from 1.
        at: The time, in seconds since the simulation began.
        outcome: ``scheduled``, ``unschedulable``, ``error`` or ``unfinished``.
        node: The node that the pod was bound to, or empty.
        nominated_node: The node that the pod was nominated to, or empty.
        message: Why the pod got no node, in upstream's words.
        preempted: The keys of the pods that were preempted for it.
        feasible: How many nodes would have done.
        scores: The node that was picked, then the best of the others.
        rejected: The nodes that were rejected, the largest group first.
    """

    pod: str
    number: int
    at: float
    outcome: str
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: tuple[str, ...] = ()
    feasible: int = 0
    scores: tuple[NodeScores, ...] = ()
    rejected: tuple[RejectedNodes, ...] = ()


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
