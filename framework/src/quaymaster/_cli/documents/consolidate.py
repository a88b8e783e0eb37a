"""The result of ``consolidate``."""

from quaymaster._cli.documents.parts import DocumentPart, WarningPart

__all__ = [
    "AddedNodePart",
    "ConsolidateDocument",
    "MovedPodPart",
    "RemovedNodePart",
    "StayingNodePart",
]


class RemovedNodePart(DocumentPart, frozen=True):
    """A node that goes.

    Attributes:
        node: Its name.
        group: Its group.
        removed: When it goes, in seconds since the beginning.
        price: Its price per hour; null if it is unknown.
        removed_for: Why it goes.
    """

    node: str
    group: str
    removed: float
    price: float | None
    removed_for: str


class AddedNodePart(DocumentPart, frozen=True):
    """A node that comes.

    Attributes:
        node: Its name.
        group: Its group.
        ordered: When it is ordered, in seconds since the beginning.
        price: Its price per hour; null if it is unknown.
        added_for: The pods that it is ordered for, or another reason.
    """

    node: str
    group: str
    ordered: float
    price: float | None
    added_for: str


class MovedPodPart(DocumentPart, frozen=True):
    """A pod of a node that goes.

    Attributes:
        pod: Its namespace and name.
        node: The node that it was on.
    """

    pod: str
    node: str


class StayingNodePart(DocumentPart, frozen=True):
    """A node that stays.

    Attributes:
        node: Its name.
        group: Its group; empty if it is in none.
        price: Its price per hour; null if it is unknown.
        why: Why it stays.
    """

    node: str
    group: str
    price: float | None
    why: str


class ConsolidateDocument(DocumentPart, frozen=True):
    """Which nodes an autoscaler would remove: ``consolidate -o json``.

    Attributes:
        removed: The nodes that go, in order.
        added: The nodes that come, for pending or moved pods.
        moved: The pods of the nodes that go which are created again elsewhere.
        ended: The pods of the nodes that go which no controller creates again.
        staying: The nodes that stay, and why.
        pending: The namespaces and names of the pods without a node in the end.
        saving: The price per hour of the nodes that go, without those that come and
            stay; null if a price is unknown.
        warnings: What was left out or assumed.
    """

    removed: list[RemovedNodePart]
    added: list[AddedNodePart]
    moved: list[MovedPodPart]
    ended: list[MovedPodPart]
    staying: list[StayingNodePart]
    pending: list[str]
    saving: float | None
    warnings: list[WarningPart]
