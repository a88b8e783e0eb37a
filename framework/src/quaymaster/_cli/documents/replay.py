"""The results of ``replay``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.autoscaler import AutoscalerPart
from quaymaster._cli.documents.parts import (
    DecidedPart,
    DocumentPart,
    NodeScoresPart,
    PodGroupPart,
    WarningPart,
)
from quaymaster._cli.documents.simulate import SimulationPart
from quaymaster._studies.recording.compared import Agreement

__all__ = [
    "CoursePart",
    "ReplayDocument",
    "ReplaySummary",
    "ReplayedDecisionPart",
    "RerunDocument",
    "TheirRejectionPart",
]


class TheirRejectionPart(DocumentPart, frozen=True):
    """Why our decision rejects their node.

    Attributes:
        node: The name of the node.
        plugin: The plugin; may be empty.
        code: The code of its status.
        reasons: The reasons, in upstream's words.
    """

    node: str
    plugin: str
    code: str
    reasons: list[str]


class ReplayedDecisionPart(DocumentPart, frozen=True):
    """A decision of the record, and ours on the same state.

    Attributes:
        pod: The namespace and name of the pod.
        scheduler: Its scheduler name.
        at: When theirs was seen, in seconds since the beginning of the record.
        agreement: How they compare.
        theirs: The decision of the recorded scheduler.
        ours: Our decision.
        best: How many nodes were equally good to ours; 0 without a node.
        states_tried: On how many other states ours decided in search of agreement.
        order_width: By how many changes the state on which it agrees differs from the
            recorded one.
        their_scores: Our scores of their node, if the decisions differ.
        our_scores: Our scores of our node, if the decisions differ.
        rejection: Why ours rejects their node, if it does.
    """

    pod: str
    scheduler: str
    at: float
    agreement: Agreement
    theirs: DecidedPart
    ours: DecidedPart
    best: int
    states_tried: int
    order_width: int
    their_scores: NodeScoresPart | UnsetType = UNSET
    our_scores: NodeScoresPart | UnsetType = UNSET
    rejection: TheirRejectionPart | UnsetType = UNSET


class ReplaySummary(DocumentPart, frozen=True):
    """The numbers of a replay.

    Attributes:
        decisions: How many decisions were compared.
        same: How many are the same.
        tie: How many chose another node that is equally good.
        order: How many are the same on another state that the scheduler may have seen.
        reasons: How many have no node in both, with other reasons.
        differs: How many differ.
        pods: How many pods the record has.
        with_node: How many pods were created with a node.
        waiting: How many pods were pending in the end.
        seconds: The length of the record.
        states_tried: How many other states were tried.
        order_widths: Number of changes -> number of decisions.
    """

    decisions: int
    same: int
    tie: int
    order: int
    reasons: int
    differs: int
    pods: int
    with_node: int
    waiting: int
    seconds: float
    states_tried: int
    order_widths: dict[str, int]


class ReplayDocument(DocumentPart, frozen=True):
    """The decisions of a record, compared with ours: ``replay -o json``.

    Attributes:
        decisions: Each decision of the record, and ours.
        summary: The numbers of the replay.
        other_schedulers: Scheduler name without a profile -> number of its decisions.
        unknown: Facts that a record lacks and that may explain differences.
        warnings: What was left out or assumed.
    """

    decisions: list[ReplayedDecisionPart]
    summary: ReplaySummary
    other_schedulers: dict[str, int]
    unknown: list[str]
    warnings: list[WarningPart]


class CoursePart(DocumentPart, frozen=True):
    """Waiting times and utilization of a record; times are in seconds.

    Attributes:
        placed: How many pods got a node.
        waiting: How many were pending in the end.
        pending_p50: The median of the times that placed pods waited for a node.
        pending_p99: The 99th percentile of these times.
        pending_most: The longest of these times.
        utilisation: Resource -> the requested share of what nodes offered.
    """

    placed: int
    waiting: int
    pending_p50: float
    pending_p99: float
    pending_most: float
    utilisation: dict[str, float]


class RerunDocument(SimulationPart, frozen=True):
    """A record with our own decisions: ``replay --what-if -o json``.

    Attributes:
        placements: The pods that got a node.
        unscheduled: The pods that got none.
        preempted: The pods that were preempted.
        reasons: The reasons of the pods without a node, the most frequent first.
        summary: The numbers of the simulation.
        warnings: What was left out or assumed.
        ours: The waiting times and the utilization with our decisions.
        theirs: The same in the record.
        seconds: The length of the record.
        pod_groups: The PodGroups, if there are any and GenericWorkload is on.
        autoscaler: The nodes that came and went, with --autoscaler.
    """

    ours: CoursePart
    theirs: CoursePart
    seconds: float
    pod_groups: list[PodGroupPart] | UnsetType = UNSET
    autoscaler: AutoscalerPart | UnsetType = UNSET
