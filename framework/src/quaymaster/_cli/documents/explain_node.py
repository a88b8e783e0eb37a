"""The decisions of autoscalers in the results of ``explain``."""

from quaymaster._cli.documents.parts import DocumentPart, WarningPart
from quaymaster._studies.simulation.scaling import NodeGroupFate, PodFate

__all__ = [
    "ExplainNodeDocument",
    "GroupVerdictPart",
    "NodeFactPart",
    "PodOfNodePart",
    "PodScalingPart",
    "ReasonSincePart",
]


class GroupVerdictPart(DocumentPart, frozen=True):
    """Whether a group of nodes grows for a pod.

    Attributes:
        group: The group.
        fate: Whether it grows.
        nodes: How many nodes it gets, or would get; 0 if that was not computed.
        price: What these nodes cost per hour; null if that is unknown.
        plugin: The plugin that rejects the pod; empty for other reasons.
        why: The reason.
    """

    group: str
    fate: NodeGroupFate
    nodes: int
    price: float | None
    plugin: str
    why: str


class PodScalingPart(DocumentPart, frozen=True):
    """What an autoscaler last decided for a pod.

    Attributes:
        summary: The decision in one sentence.
        decided: When, in seconds since the beginning; null if the autoscaler has not
            considered the pod.
        groups: The verdict of each group.
    """

    summary: str
    decided: float | None
    groups: list[GroupVerdictPart]


class NodeFactPart(DocumentPart, frozen=True):
    """Something that decides whether a node is removed.

    Attributes:
        name: What it is about, such as utilization.
        value: Its value, in words.
    """

    name: str
    value: str


class PodOfNodePart(DocumentPart, frozen=True):
    """A pod of a node that might be removed.

    Attributes:
        pod: Its namespace and name.
        fate: What would happen to it.
        why: The node that it would move to, or why it has none.
    """

    pod: str
    fate: PodFate
    why: str


class ReasonSincePart(DocumentPart, frozen=True):
    """Why a node was not removed, from some time on.

    Attributes:
        since: The time, in seconds since the beginning.
        why: The reason.
    """

    since: float
    why: str


class ExplainNodeDocument(DocumentPart, frozen=True):
    """Why an autoscaler removes a node, or does not: ``explain node/NAME -o json``.

    Attributes:
        node: The node.
        group: Its group; empty if it is in none.
        removed: When it was deleted, in seconds since the beginning; null if it stays.
        why: The reason.
        facts: What decides about the node, as it is at the end.
        pods: Its pods at the end, and what keeps each of them.
        history: Why it was not removed, from the beginning on.
        until: The end of the simulation, in seconds since the beginning.
        warnings: What was left out or assumed.
    """

    node: str
    group: str
    removed: float | None
    why: str
    facts: list[NodeFactPart]
    pods: list[PodOfNodePart]
    history: list[ReasonSincePart]
    until: float
    warnings: list[WarningPart]
