"""The result of ``capacity``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.parts import (
    ClosedNodePart,
    DocumentPart,
    ResourcePart,
    WarningPart,
)

__all__ = [
    "CapacityDocument",
    "CapacitySummary",
    "GroupResourcePart",
    "GroupRoomPart",
    "HeadroomPart",
    "NodeRoomPart",
    "RoomDocument",
    "TypicalPodPart",
]


class GroupResourcePart(DocumentPart, frozen=True):
    """The amounts of a resource on a group of nodes.

    CPU is in millicores, memory and storage are in bytes.

    Attributes:
        allocatable: What the nodes offer.
        requested: What the pods on them request.
        free: The free amount.
        utilization: The requested part of the allocatable amount.
        imbalance: The standard deviation of the utilization of the nodes.
        fragmentation: The part of the free amount that a typical pod cannot use; null
            if that was not measured.
        stranded: The part of the free amount that no typical pod can use; null if that
            was not measured.
    """

    allocatable: int
    requested: int
    free: int
    utilization: float
    imbalance: float
    fragmentation: float | None
    stranded: float | None


class GroupRoomPart(DocumentPart, frozen=True):
    """The room on a group of nodes, or on all.

    Attributes:
        nodes: How many nodes there are.
        closed: How many of them accept no pods.
        pods: How many pods are on them.
        resources: Resource -> its amounts.
        price_per_hour: The sum of the prices of the nodes; null if all are unknown.
        unpriced: How many nodes have no price.
        labels: The labels that make the group; the totals do not have this key.
    """

    nodes: int
    closed: int
    pods: int
    resources: dict[str, GroupResourcePart]
    price_per_hour: float | None
    unpriced: int
    labels: dict[str, str] | UnsetType = UNSET


class NodeRoomPart(DocumentPart, frozen=True):
    """The room on a node.

    Attributes:
        node: Its name.
        status: Its status as kubectl get nodes prints it.
        labels: Its values of the labels that group nodes.
        pods: How many pods are on it.
        resources: Resource -> its amounts.
        price_per_hour: Its price; null if it is unknown.
    """

    node: str
    status: str
    labels: dict[str, str]
    pods: int
    resources: dict[str, ResourcePart]
    price_per_hour: float | None


class TypicalPodPart(DocumentPart, frozen=True):
    """Similar pods of the cluster.

    Attributes:
        pod: The namespace and name of the first of them.
        pods: How many there are.
        nodes: On how many nodes one more fits.
        requests: Resource -> what each of them requests.
    """

    pod: str
    pods: int
    nodes: int
    requests: dict[str, int]


class HeadroomPart(DocumentPart, frozen=True):
    """How many more of a pod fit.

    Attributes:
        pod: The requested pod.
        fits: How many more fit.
        limit: How many were tried at most.
        nodes: Node -> how many more are on it then.
        message: Why the next one does not fit; empty if the limit was reached.
        facts: The facts behind the message.
        group_size: For a PodGroup, how many pods each copy has; whole copies count.
        domains: For a PodGroup, topology domain -> how many copies fit there.
    """

    pod: str
    fits: int
    limit: int
    nodes: dict[str, int]
    message: str
    facts: list[str]
    group_size: int | UnsetType = UNSET
    domains: dict[str, int] | UnsetType = UNSET


class CapacitySummary(DocumentPart, frozen=True):
    """The pods that had no node in the input.

    Attributes:
        pods: How many pods were scheduled or are pending.
        placed: How many of them got a node.
        unscheduled: How many of them got none.
        nodes: How many nodes there are.
    """

    pods: int
    placed: int
    unscheduled: int
    nodes: int


class RoomDocument(DocumentPart, frozen=True):
    """The room in a cluster.

    Attributes:
        by: The labels that group nodes.
        total: The room on all nodes.
        open: The room on the nodes that accept pods; null if all do.
        closed: The room on the nodes that accept no pods; null if there are none.
        closed_nodes: The nodes that accept no pods.
        groups: The room on each group of nodes.
        nodes: The room on each node.
        typical_pods: The typical pods, if fragmentation was measured.
    """

    by: list[str]
    total: GroupRoomPart
    open: GroupRoomPart | None
    closed: GroupRoomPart | None
    closed_nodes: list[ClosedNodePart]
    groups: list[GroupRoomPart]
    nodes: list[NodeRoomPart]
    typical_pods: list[TypicalPodPart]


class CapacityDocument(RoomDocument, frozen=True):
    """The free room of nodes and of the cluster: ``capacity -o json``.

    Attributes:
        by: The labels that group nodes.
        total: The room on all nodes.
        open: The room on the nodes that accept pods; null if all do.
        closed: The room on the nodes that accept no pods; null if there are none.
        closed_nodes: The nodes that accept no pods.
        groups: The room on each group of nodes.
        nodes: The room on each node.
        typical_pods: The typical pods, if fragmentation was measured.
        headroom: How many more of each requested pod fit.
        summary: The pods that had no node in the input.
        warnings: What was left out or assumed.
    """

    headroom: list[HeadroomPart]
    summary: CapacitySummary
    warnings: list[WarningPart]
