"""The figures of a cluster's room: per node, per group of nodes, and in all."""

from collections.abc import Mapping

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._studies.capacity.node_status import ClosedNode

__all__ = ["GroupRoom", "Headroom", "NodeRoom", "ResourceRoom", "Room", "TypicalPod"]


@attrs.frozen(kw_only=True)
class ResourceRoom:
    """The amounts of one resource, on one node or several.

    CPU is in millicores, memory and storage are in bytes; ``pods`` and extended
    resources are plain numbers.

    Attributes:
        allocatable: What the nodes offer.
        requested: What the pods on them request.
        free: The free amount; 0 if requests exceed the allocatable amount.
    """

    allocatable: int
    requested: int
    free: int

    @property
    def utilization(self) -> float:
        """The part of what is offered that is requested; 0 if nothing is offered."""
        return self.requested / self.allocatable if self.allocatable else 0.0


@attrs.frozen(kw_only=True)
class NodeRoom:
    """The room on one node.

    Attributes:
        node: Its name.
        group: Its values of the labels that group nodes; empty for a missing label.
        pods: How many pods are on it.
        resources: The room by resource: ``cpu``, ``memory``, ``ephemeral-storage``,
            ``pods``, and the extended resources that the node offers or its pods
            request.
        price_per_hour: Its price; None if it is unknown.
        status: Its status as ``kubectl get nodes`` prints it, such as
            ``Ready,SchedulingDisabled``.
    """

    node: str
    group: tuple[str, ...]
    pods: int
    resources: Mapping[str, ResourceRoom]
    price_per_hour: float | None = None
    status: str = "Ready"


@attrs.frozen(kw_only=True)
class GroupRoom:
    """The room on a group of nodes, or on all.

    Attributes:
        group: The values of the labels that make the group; empty for all nodes.
        nodes: How many nodes there are.
        pods: How many pods are on them.
        resources: The room by resource, for those that some node offers or some pod
            requests.
        imbalance: How unevenly the nodes are filled, by resource: the standard
            deviation of the utilisation of the nodes that offer the resource. 0 is
            perfectly even, and 0.5 is the highest value for utilisations between 0 and
            1.
        price_per_hour: The sum of the prices of the nodes; None if all are unknown.
        unpriced: How many nodes have no price, so that the sum lacks them.
        fragmentation: By resource, from 0 to 1: the part of the free room that a
            typical pod cannot use, since the scheduler finds the node unfit for one
            more of it. It is the mean over all pods of the cluster that request the
            resource. Resources that no pod requests, or of which nothing is free, are
            missing. All are missing if fragmentation was not requested.
        stranded: The part of the free room that none of the typical pods can use, for
            the same resources.
        closed: How many of the nodes accept no pods.
    """

    group: tuple[str, ...] = ()
    nodes: int
    pods: int
    resources: Mapping[str, ResourceRoom]
    imbalance: Mapping[str, float]
    price_per_hour: float | None = None
    unpriced: int = 0
    fragmentation: Mapping[str, float] = attrs.field(factory=dict)
    stranded: Mapping[str, float] = attrs.field(factory=dict)
    closed: int = 0


@attrs.frozen(kw_only=True)
class Headroom:
    """How many more of a pod fit.

    Attributes:
        pod: The requested pod.
        fits: How many more fit.
        limit: How many were tried at most; if `fits` is as many, more may fit.
        nodes: Node -> how many more are on it then.
        message: Why the next one does not fit: the message of the scheduler or of a
            quota; empty if the limit was reached.
        facts: The facts behind the message, for each group of nodes that a plugin
            rejected for the same reasons, the largest first.
        group_size: For a PodGroup, how many pods each copy has; `fits` counts copies
            whose pods all fit. 0 for a pod.
        domains: For a PodGroup with a topology constraint, value of its label -> how
            many copies fit there, the most first.
    """

    pod: str
    fits: int
    limit: int
    nodes: Mapping[str, int]
    message: str = ""
    facts: tuple[str, ...] = ()
    group_size: int = 0
    domains: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class TypicalPod:
    """Similar pods of the cluster, and the number of nodes where one more fits.

    Attributes:
        pod: The key of the first of them.
        pods: How many there are.
        requests: What each requests, by resource, in the units of `ResourceRoom`.
        nodes: How many nodes the scheduler finds fit for one more.
    """

    pod: str
    pods: int
    requests: Mapping[str, int]
    nodes: int


@attrs.frozen(kw_only=True)
class Room(Tabular):
    """The room in a cluster.

    Attributes:
        by: The labels that nodes are grouped by.
        total: The room on all nodes.
        groups: The room on each group, sorted by the values of its labels.
        nodes: The room on each node, by name; empty unless requested.
        typical: The typical pods, the most frequent first, if fragmentation was
            requested; at most 100.
        open: The room on the nodes that accept pods; None if all do.
        closed: The room on the nodes that accept no pods, since they are cordoned, not
            ready or being deleted; None if there are none.
        closed_nodes: These nodes, with the reasons.
    """

    by: tuple[str, ...]
    total: GroupRoom
    groups: tuple[GroupRoom, ...]
    nodes: tuple[NodeRoom, ...]
    typical: tuple[TypicalPod, ...] = ()
    open: GroupRoom | None = None
    closed: GroupRoom | None = None
    closed_nodes: tuple[ClosedNode, ...] = ()
