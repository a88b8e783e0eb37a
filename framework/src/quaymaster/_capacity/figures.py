"""The figures of a cluster's room: per node, per group of nodes, and in all."""

from collections.abc import Mapping

import attrs

__all__ = ["GroupRoom", "NodeRoom", "ResourceRoom", "Room"]


@attrs.frozen(kw_only=True)
class ResourceRoom:
    """How much there is of one resource, on a node or on several.

    CPU is in millicores, memory and storage are in bytes; ``pods`` and extended
    resources are plain numbers.

    Attributes:
        allocatable: What the nodes offer.
        requested: What the pods on them request.
        free: What is left. A node that is asked for more than it offers leaves 0.
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
        group: The values of the labels that it is grouped by; empty for one it lacks.
        pods: How many pods are on it.
        resources: The room by resource: ``cpu``, ``memory``, ``ephemeral-storage``,
            ``pods``, and the extended resources that the node offers or its pods
            request.
        price_per_hour: What it costs; None if nothing tells.
    """

    node: str
    group: tuple[str, ...]
    pods: int
    resources: Mapping[str, ResourceRoom]
    price_per_hour: float | None = None


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
            deviation of their utilisation, over the nodes that offer the resource. 0
            is perfectly even, and 0.5 is as uneven as it gets between 0 and 1.
        price_per_hour: The sum of what the nodes cost; None if no price is known.
        unpriced: How many nodes have no price, so that the sum lacks them.
        fragmentation: By resource, from 0 to 1: the part of the free room that a
            typical pod cannot use, since the scheduler finds that it does not fit where
            the room is. It is the mean over all pods of the input that request the
            resource. Resources that no typical pod requests, or that nothing is left
            of, are missing.
        stranded: The part of the free room that no typical pod at all can use, for the
            same resources.
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


@attrs.frozen(kw_only=True)
class Room:
    """The room in a cluster.

    Attributes:
        by: The labels that nodes are grouped by.
        total: The room on all nodes.
        groups: The room on each group, sorted by the values of its labels.
        nodes: The room on each node, by name; empty if nobody asked for it.
    """

    by: tuple[str, ...]
    total: GroupRoom
    groups: tuple[GroupRoom, ...]
    nodes: tuple[NodeRoom, ...]
