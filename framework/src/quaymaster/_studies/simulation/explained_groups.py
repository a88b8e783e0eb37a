"""The explanation of a PodGroup: why its pods have nodes, or have none."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from quaymaster._base.notices import Notice
from quaymaster._core.cycle.explanation import NodeRejection, PluginScore
from quaymaster._core.engine.attempts import AttemptOutcome

__all__ = [
    "ExplainedGroup",
    "GroupAttempt",
    "GroupMember",
    "GroupOutcome",
    "GroupParent",
    "TriedPlacement",
    "UnplacedMember",
]

_NO_SCORES: Final[Mapping[str, PluginScore]] = MappingProxyType({})


class GroupOutcome(enum.StrEnum):
    """The state of a group at the end of a simulation."""

    SCHEDULED = "scheduled"
    """All its pods have a node."""

    PARTLY_SCHEDULED = "partly-scheduled"
    """Its quorum is met, and some of its pods have no node."""

    UNSCHEDULABLE = "unschedulable"
    """Its quorum is not met: too few of its pods fit together."""

    ERROR = "error"
    """Its last attempt ended with an error."""

    WAITING = "waiting-for-pods"
    """Fewer pods exist than its quorum. It has no condition and no event then."""

    GATED = "gated"
    """One of its pods must not be scheduled yet, which holds back all of them."""

    MISSING = "no-object"
    """Pods name it, but the PodGroup does not exist. The pods wait for it."""


_STATES: Final = {
    GroupOutcome.SCHEDULED: "is scheduled",
    GroupOutcome.PARTLY_SCHEDULED: "is partly scheduled",
    GroupOutcome.UNSCHEDULABLE: "is unschedulable",
    GroupOutcome.ERROR: "has an error",
    GroupOutcome.WAITING: "waits for its quorum",
    GroupOutcome.GATED: "is gated",
    GroupOutcome.MISSING: "does not exist",
}


_QUORATE: Final = frozenset({GroupOutcome.SCHEDULED, GroupOutcome.PARTLY_SCHEDULED})


@attrs.frozen(kw_only=True)
class GroupMember:
    """A pod of a group at the end of a simulation.

    Attributes:
        pod: Its key, ``namespace/name``.
        node: Its node, or empty.
        domain: The value of the group's topology key on that node, or empty.
        nominated_node: The node that it was nominated to, or empty.
        message: Why it has no node, in upstream's words.
    """

    pod: str
    node: str = ""
    domain: str = ""
    nominated_node: str = ""
    message: str = ""


@attrs.frozen(kw_only=True)
class GroupParent:
    """A CompositePodGroup above a group.

    Attributes:
        group: ``namespace/name`` of the CompositePodGroup.
        min_group_count: How many of its children must fit together; None without a
            gang policy.
    """

    group: str
    min_group_count: int | None = None


@attrs.frozen(kw_only=True)
class UnplacedMember:
    """A pod that got no node on a placement.

    Attributes:
        pod: Its key.
        message: Why, in upstream's words.
        rejections: The nodes of the placement, with the reasons; empty after an error.
    """

    pod: str
    message: str
    rejections: tuple[NodeRejection, ...] = ()


@attrs.frozen(kw_only=True)
class TriedPlacement:
    """A placement that an attempt tried: nodes among which the group was placed.

    Attributes:
        name: The value of the topology key, such as a rack; empty for all nodes.
        nodes: The number of its nodes.
        is_feasible: Whether the group fits.
        is_chosen: Whether it was chosen.
        message: Why the group does not fit, in upstream's words.
        assigned: The pods that would get a node there: key -> node.
        unplaced: The pods that were tried and got no node. If the group does not fit,
            the last one has stopped it.
        untried: How many pods were not tried any longer.
        scores: Plugin -> its score, if the group fits.
        total: The sum of the weighted scores; None if the group does not fit.
    """

    name: str
    nodes: int
    is_feasible: bool
    is_chosen: bool
    message: str = ""
    assigned: Mapping[str, str]
    unplaced: tuple[UnplacedMember, ...] = ()
    untried: int = 0
    scores: Mapping[str, PluginScore] = _NO_SCORES
    total: int | None = None

    @property
    def stopper(self) -> UnplacedMember | None:
        """The pod after which the group could not fit; None if it fits."""
        return self.unplaced[-1] if self.unplaced and not self.is_feasible else None


@attrs.frozen(kw_only=True)
class GroupAttempt:
    """One attempt to schedule a group.

    Attributes:
        number: Which attempt of the group it was, from 1.
        at: When it was made, in seconds since the beginning.
        outcome: ``scheduled``, ``unschedulable`` or ``error``.
        message: Why the group does not fit, in upstream's words.
        tried: The keys of the pods that the attempt was for, in order.
        scheduled: How many other pods of the group had a node already.
        placements: The placements, in the order in which they were tried.
        preempted: The keys of the pods that were preempted for it.
        nominated: The nodes that its pods were nominated to: key -> node.
    """

    number: int
    at: float
    outcome: AttemptOutcome
    message: str = ""
    tried: tuple[str, ...] = ()
    scheduled: int = 0
    placements: tuple[TriedPlacement, ...] = ()
    preempted: tuple[str, ...] = ()
    nominated: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def decisive(self) -> TriedPlacement | None:
        """The placement that was chosen, or the first one; None without any."""
        for placement in self.placements:
            if placement.is_chosen:
                return placement
        return self.placements[0] if self.placements else None


@attrs.frozen(kw_only=True)
class ExplainedGroup:
    """Why the pods of a group have nodes, or have none.

    Attributes:
        group: ``namespace/name`` of the PodGroup.
        outcome: Its state at the end.
        message: What it waits for, or why it does not fit.
        min_count: The pods that must fit together; None without a gang policy.
        topology_key: The label of nodes whose value its pods must share, or empty.
        nodes: The number of nodes at the end.
        unlabelled_nodes: How many of them lack the topology key; the group can use none
            of these.
        parents: The CompositePodGroups above it, from its parent to the root. They are
            placed as a whole.
        misfits: The other PodGroups below that root whose last attempt found no
            placement: ``namespace/name``.
        members: Its pods, by key.
        attempt: The number of the attempt that is shown, from 1; 0 if there was none.
        attempts: All attempts, in their order.
        notices: What was left out or assumed.
    """

    group: str
    outcome: GroupOutcome
    message: str = ""
    min_count: int | None = None
    topology_key: str = ""
    nodes: int = 0
    unlabelled_nodes: int = 0
    parents: tuple[GroupParent, ...] = ()
    misfits: tuple[str, ...] = ()
    members: tuple[GroupMember, ...] = ()
    attempt: int = 0
    attempts: tuple[GroupAttempt, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def placed(self) -> int:
        """The number of its pods that have a node."""
        return sum(bool(member.node) for member in self.members)

    @property
    def is_quorate(self) -> bool:
        """Whether its quorum is met, or needs nothing."""
        return self.outcome in _QUORATE

    @property
    def sentence(self) -> str:
        """Its state in a few words, with the reason."""
        text = f"PodGroup {self.group} {_STATES[self.outcome]}"
        return f"{text}: {self.message}" if self.message else text

    @property
    def domains(self) -> Mapping[str, int]:
        """The values of the topology key, with the number of pods on such nodes."""
        counts: dict[str, int] = {}
        for member in self.members:
            if member.node and self.topology_key:
                counts[member.domain] = counts.get(member.domain, 0) + 1
        return counts

    @property
    def missing(self) -> int:
        """How many pods must still be created before it is tried."""
        return max(0, (self.min_count or 1) - len(self.members))

    @property
    def shown(self) -> GroupAttempt | None:
        """The attempt that is shown, or None."""
        for attempt in self.attempts:
            if attempt.number == self.attempt:
                return attempt
        return None
