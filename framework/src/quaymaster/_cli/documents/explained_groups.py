"""The parts of results that describe the attempts of a PodGroup."""

from quaymaster._cli.documents.parts import (
    DocumentPart,
    PluginScorePart,
    RejectionPart,
)
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._studies.simulation.explained_groups import GroupOutcome

__all__ = [
    "ExplainedGroupPart",
    "GroupAttemptPart",
    "GroupMemberPart",
    "GroupParentPart",
    "TriedPlacementPart",
    "UnplacedMemberPart",
]


class GroupMemberPart(DocumentPart, frozen=True):
    """A pod of a group at the end of the simulation.

    Attributes:
        pod: Its namespace and name.
        node: Its node; may be empty.
        domain: The value of the group's topology key on that node; may be empty.
        nominated_node: The node that it was nominated to; may be empty.
        message: Why it has no node, in upstream's words.
    """

    pod: str
    node: str
    domain: str
    nominated_node: str
    message: str


class GroupParentPart(DocumentPart, frozen=True):
    """A CompositePodGroup above a group.

    Attributes:
        group: Its namespace and name.
        min_group_count: How many of its children must fit together; null without a
            gang policy.
    """

    group: str
    min_group_count: int | None


class UnplacedMemberPart(DocumentPart, frozen=True):
    """A pod that got no node on a placement.

    Attributes:
        pod: Its namespace and name.
        message: Why, in upstream's words.
        rejections: The nodes of the placement, with the reasons.
    """

    pod: str
    message: str
    rejections: list[RejectionPart]


class TriedPlacementPart(DocumentPart, frozen=True):
    """Nodes among which an attempt tried to place a group.

    Attributes:
        name: The value of the topology key, such as a rack; empty for all nodes.
        nodes: The number of its nodes.
        feasible: Whether the group fits there.
        chosen: Whether it was chosen.
        message: Why the group does not fit, in upstream's words.
        assigned: The pods that would get a node there: pod -> node.
        unplaced: The pods that were tried and got no node.
        untried: How many pods were not tried any longer.
        stopped_by: The pod after which the group could not fit; may be empty.
        plugins: Plugin -> its score, if the group fits.
        total: The sum of the weighted scores; null if the group does not fit.
    """

    name: str
    nodes: int
    feasible: bool
    chosen: bool
    message: str
    assigned: dict[str, str]
    unplaced: list[UnplacedMemberPart]
    untried: int
    stopped_by: str
    plugins: dict[str, PluginScorePart]
    total: int | None


class GroupAttemptPart(DocumentPart, frozen=True):
    """An attempt to schedule a group.

    Attributes:
        attempt: Its number, from 1.
        at: When it was made, in seconds since the beginning.
        outcome: Its outcome.
        message: Why the group does not fit, in upstream's words.
        pods: The pods that it was for, in order.
        scheduled: How many other pods of the group had a node already.
        placements: The placements, in the order in which they were tried.
        preempted: The pods that were preempted for it.
        nominated: The nodes that its pods were nominated to: pod -> node.
    """

    attempt: int
    at: float
    outcome: AttemptOutcome
    message: str
    pods: list[str]
    scheduled: int
    placements: list[TriedPlacementPart]
    preempted: list[str]
    nominated: dict[str, str]


class ExplainedGroupPart(DocumentPart, frozen=True):
    """Why the pods of a PodGroup have nodes, or have none.

    Attributes:
        group: The namespace and name of the PodGroup.
        outcome: Its state at the end.
        message: What it waits for, or why it does not fit.
        min_count: The pods that must fit together; null without a gang policy.
        topology_key: The label of nodes whose value its pods must share; may be empty.
        nodes: The number of nodes at the end.
        unlabelled_nodes: How many of them lack that label; the group can use none of
            these.
        parents: The CompositePodGroups above it, from its parent to the root.
        misfits: The other PodGroups below that root whose last attempt found no
            placement.
        missing: How many pods must still be created before it is tried.
        pods: Its pods.
        placements: The placements of the attempt that is shown.
        attempt: The number of that attempt, from 1; 0 if there was none.
        attempts: All attempts.
    """

    group: str
    outcome: GroupOutcome
    message: str
    min_count: int | None
    topology_key: str
    nodes: int
    unlabelled_nodes: int
    parents: list[GroupParentPart]
    misfits: list[str]
    missing: int
    pods: list[GroupMemberPart]
    placements: list[TriedPlacementPart]
    attempt: int
    attempts: list[GroupAttemptPart]
