"""What an autoscaler did, as a part of results."""

from quaymaster._cli.documents.parts import DocumentPart

__all__ = [
    "AutoscaledGroupPart",
    "AutoscaledNodePart",
    "AutoscalerPart",
    "UnhelpedPart",
]


class AutoscaledNodePart(DocumentPart, frozen=True):
    """A node of an autoscaler; times are in seconds since the beginning.

    Attributes:
        node: Its name.
        group: Its group.
        ordered: When it was ordered; null if it was there from the beginning.
        registered: When it came into the cluster; null if it has not.
        ready: When it became ready; null if it has not.
        removed: When it was deleted; null if it exists at the end.
        added_for: The pods that it was ordered for, or another reason.
        removed_for: Why it was deleted.
        hours: How long it existed, from its order on.
        cost: The price of these hours; null if it is unknown.
    """

    node: str
    group: str
    ordered: float | None
    registered: float | None
    ready: float | None
    removed: float | None
    added_for: str
    removed_for: str
    hours: float
    cost: float | None


class AutoscaledGroupPart(DocumentPart, frozen=True):
    """A group of an autoscaler.

    Attributes:
        group: Its name.
        first: Its nodes at the beginning.
        last: Its nodes at the end.
        added: How many nodes came.
        removed: How many went.
        hours: The hours of all its nodes together.
        cost: Their price; null if it is unknown.
    """

    group: str
    first: int
    last: int
    added: int
    removed: int
    hours: float
    cost: float | None


class UnhelpedPart(DocumentPart, frozen=True):
    """Why a group does not grow for some pending pods.

    Attributes:
        pods: The namespaces and names of the pods.
        group: The group.
        why: The reason.
    """

    pods: list[str]
    group: str
    why: str


class AutoscalerPart(DocumentPart, frozen=True):
    """What an autoscaler did.

    Attributes:
        nodes: All nodes that it ever had, in the order in which they came.
        groups: Its groups.
        unhelped: Why no group grows for the pods that are pending at the end.
    """

    nodes: list[AutoscaledNodePart]
    groups: list[AutoscaledGroupPart]
    unhelped: list[UnhelpedPart]
