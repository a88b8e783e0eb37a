"""The results of a simulation."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice

if TYPE_CHECKING:
    # Few simulations have groups, and these classes take long to define.
    from quaymaster._studies.simulation.explained_groups import ExplainedGroup

__all__ = [
    "Placement",
    "Preemption",
    "ProgressFn",
    "SimulationResult",
    "UnscheduledPod",
]

ProgressFn: TypeAlias = Callable[[int, int], None]
"""Called repeatedly with the number of pods that have a node, and of all pods."""

# All times are virtual: seconds since the simulation began. The objects of the input
# exist from the beginning, whenever they were created. Times take no part in
# comparisons: two results are equal if the same happened to the same pods.


@attrs.frozen(kw_only=True)
class Placement:
    """A pod that got a node.

    Attributes:
        pod: Its key, ``namespace/name``.
        node: The node's name.
        scheduler: The profile that placed it.
        created: When it entered the simulation, in seconds since the beginning.
        bound: When it was bound.
        finished: When its containers had all ended; None if they run on.
        attempts: How often it was tried.
    """

    pod: str
    node: str
    scheduler: str
    created: float = attrs.field(default=0.0, eq=False)
    bound: float = attrs.field(default=0.0, eq=False)
    finished: float | None = attrs.field(default=None, eq=False)
    attempts: int = attrs.field(default=1, eq=False)


@attrs.frozen(kw_only=True)
class UnscheduledPod:
    """A pod that got no node.

    Attributes:
        pod: Its key.
        reason: One word, as in its PodScheduled condition: ``Unschedulable``,
            ``SchedulerError`` or ``SchedulingGated``, also if it waits for its group;
            ``NoProfile`` if no profile has its scheduler name, ``Terminating`` if it
            was deleted before it had a node.
        message: Why, in upstream's words.
        plugins: The plugins that rejected it, sorted.
        scheduler: The scheduler name in its spec.
        created: When it entered the simulation, in seconds since the beginning.
        attempts: How often it was tried.
        reasons: The reasons for which nodes were rejected, each once, without counts.
        facts: The facts of plugins behind the reasons, if requested: for each reason
            those about the first node that was rejected for it.
    """

    pod: str
    reason: str
    message: str
    plugins: tuple[str, ...]
    scheduler: str = attrs.field(default="", eq=False)
    created: float = attrs.field(default=0.0, eq=False)
    attempts: int = attrs.field(default=0, eq=False)
    reasons: tuple[str, ...] = attrs.field(default=(), eq=False)
    facts: tuple[str, ...] = attrs.field(default=(), eq=False)


@attrs.frozen(kw_only=True)
class Preemption:
    """A pod that was preempted for another one.

    Attributes:
        pod: The key of the victim.
        by: The key of the pod that it was preempted for.
        node: The node.
        at: The time, in seconds since the beginning.
    """

    pod: str
    by: str
    node: str
    at: float = attrs.field(default=0.0, eq=False)


@attrs.frozen(kw_only=True)
class SimulationResult(Tabular):
    """The result of a simulation.

    Attributes:
        placements: In the order in which they were made.
        unscheduled: By key.
        preempted: In the order in which it happened.
        pods: How many pods had to be placed.
        nodes: How many nodes there are.
        notices: What was left out or assumed.
        started: When the virtual time began, in seconds since the Unix epoch.
        kept: How many pods had their node from the beginning and still have it.
        groups: The PodGroups, by key; empty without the feature gate GenericWorkload.
    """

    placements: tuple[Placement, ...]
    unscheduled: tuple[UnscheduledPod, ...]
    preempted: tuple[Preemption, ...]
    pods: int
    nodes: int
    notices: tuple[Notice, ...] = ()
    started: float = 0.0
    kept: int = 0
    groups: "tuple[ExplainedGroup, ...]" = ()

    @property
    def makespan(self) -> float:
        """The seconds from the beginning until the last pod was bound, or ended."""
        return (
            max(
                (placement.bound if placement.finished is None else placement.finished)
                for placement in self.placements
            )
            if self.placements
            else 0.0
        )

    def reasons(self) -> Sequence[tuple[tuple[str, ...], int]]:
        """Count the unscheduled pods by their reasons, the most frequent first.

        The pods of a PodGroup have one reason: that of their group.
        """
        of_groups = {
            member.pod: (group.sentence,)
            for group in self.groups
            if not group.is_quorate
            for member in group.members
        }
        counts = Counter(
            of_groups.get(pod.pod) or tuple(sorted(pod.reasons)) or (pod.message,)
            for pod in self.unscheduled
        )
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
