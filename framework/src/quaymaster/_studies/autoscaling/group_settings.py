"""The groups of an autoscaler in its file."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._api.objects import Node, Taint
from quaymaster._api.objects.quantity import Quantity
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._core.config.fields import integer, non_empty, number
from quaymaster._studies.autoscaling.cloud import as_new
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.scaled_groups import ScaledGroup

__all__ = ["MEMBERSHIP_LABELS", "GroupSettings", "members_of", "scaled_groups"]

MEMBERSHIP_LABELS: Final = (
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
)
"""Labels whose value is the name of the node group, by cloud."""


@attrs.frozen(kw_only=True)
class GroupSettings:
    """One group of a file.

    Attributes:
        name: Its name.
        min: The fewest nodes.
        max: The most nodes.
        price: What a node costs per hour.
        registration: How long a new node needs until it is in the cluster.
        readiness: How long it needs from then on until it is ready.
        nodes: Labels of the nodes of the input that are in the group. By default the
            label of a cloud must have the name of the group.
        resources: What a node offers. By default new nodes are like the first node of
            the group in the input.
        labels: Labels of new nodes.
        taints: Taints of new nodes.
        zone: The zone of new nodes.
        region: Their region.
        instance_type: Their instance type.
        zero_or_max: Whether all nodes come at once, and go at once.
    """

    name: str = attrs.field(validator=non_empty())
    min: int = attrs.field(default=0, validator=integer(0))
    max: int = attrs.field(validator=integer(0))
    price: float | None = attrs.field(default=None, validator=number(0))
    registration: timedelta = attrs.field(default=timedelta(seconds=60))
    readiness: timedelta = attrs.field(default=timedelta(seconds=30))
    nodes: Mapping[str, str] = attrs.field(factory=dict)
    resources: Mapping[str, Quantity] = attrs.field(factory=dict)
    labels: Mapping[str, str] = attrs.field(factory=dict)
    taints: tuple[Taint, ...] = ()
    zone: str | None = attrs.field(default=None, validator=non_empty())
    region: str | None = attrs.field(default=None, validator=non_empty())
    instance_type: str | None = attrs.field(default=None, validator=non_empty())
    zero_or_max: bool = False

    def has(self, node: Node) -> bool:
        """Return whether a node of the input is in the group."""
        if self.nodes:
            return self.nodes.items() <= node.labels.items()
        return any(node.labels.get(key) == self.name for key in MEMBERSHIP_LABELS)


def members_of(
    groups: Iterable[GroupSettings], nodes: Iterable[Node]
) -> Mapping[str, Sequence[Node]]:
    """Return the nodes of the input that are in each group, the first that matches."""
    groups = tuple(groups)
    members: dict[str, list[Node]] = {group.name: [] for group in groups}
    for node in nodes:
        for group in groups:
            if group.has(node):
                members[group.name].append(node)
                break
    return members


def scaled_groups(
    groups: Iterable[GroupSettings],
    members: Mapping[str, Sequence[Node]],
    source: str,
) -> Sequence[ScaledGroup]:
    """Return the groups with what their new nodes look like.

    Args:
        groups: The groups.
        members: The nodes of the input in each group.
        source: The name of the file, for messages.

    Raises:
        AutoscalerError: A group has neither resources nor a node.
    """
    return [
        ScaledGroup(
            name=group.name,
            min_size=group.min,
            max_size=group.max,
            template=_template(group, members[group.name], source),
            registration_seconds=group.registration.total_seconds(),
            readiness_seconds=group.readiness.total_seconds(),
            price_per_hour=group.price,
            zero_or_max=group.zero_or_max,
        )
        for group in groups
    ]


def _template(group: GroupSettings, nodes: Sequence[Node], source: str) -> Node:
    where = f"{source}: groups ({group.name})"
    if group.resources:
        return _node(group, where)
    if nodes:
        return as_new(nodes[0])
    problem = "resources: expected amounts, as the input has no node of the group"
    raise AutoscalerError(where, problem)


def _node(group: GroupSettings, where: str) -> Node:
    """Return what a new node of a group looks like."""
    labels = {
        "topology.kubernetes.io/zone": group.zone,
        "topology.kubernetes.io/region": group.region,
        "node.kubernetes.io/instance-type": group.instance_type,
        **group.labels,
    }
    parts = [f"{name}={amount}" for name, amount in group.resources.items()]
    parts += [f"label:{key}={value}" for key, value in labels.items() if value]
    parts += map(_taint, group.taints)
    for part in parts:
        # The line that is made of them separates its settings by commas.
        if "," in part:
            raise AutoscalerError(where, f"expected no comma, got {part!r}")
    try:
        [node] = make_nodes([f"1:name={group.name},{','.join(parts)}"])
    except NodesSpecError as error:
        raise AutoscalerError(where, error.problem) from error
    return node


def _taint(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"taint:{taint.key}{value}:{taint.effect}"
