"""The node groups of a plan whose nodes an autoscaler offers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, Node
from quaymaster._api.objects.resource_names import is_scalar_resource
from quaymaster._clusters.inmemory.nodes_spec import NodesSpecError, make_nodes
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.planning.groups import (
    NodeGroup,
    NodeGroupError,
    parse_node_group,
)
from quaymaster._studies.simulation.autoscaler import (
    AutoscalerFactory,
    NodeOffer,
    OffersNodes,
)

__all__ = ["group_of_offer", "offers_of"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_INSTANCE_TYPES: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
_NEEDED: Final = ("cpu", "memory")
_RESOURCES: Final = ("cpu", "memory", "pods", "ephemeral-storage")


def offers_of(
    factory: AutoscalerFactory, objects: Sequence[ApiObject]
) -> Sequence[NodeOffer]:
    """Return the nodes that an autoscaler may add.

    Args:
        factory: Makes the autoscaler.
        objects: The objects of the cluster.

    Raises:
        AutoscalerError: The autoscaler does not list its nodes, or offers none.
    """
    if not isinstance(factory, OffersNodes):
        name = type(factory).__name__
        problem = (
            f"plan needs the nodes that it may add, and {name} does not list them: it "
            "has no method 'offers'; ClusterAutoscaler and Karpenter list them"
        )
        raise AutoscalerError("autoscaler", problem)
    offers = factory.offers(objects)
    if not offers:
        raise AutoscalerError("autoscaler", "it has no nodes that it may add")
    return offers


def group_of_offer(offer: NodeOffer) -> NodeGroup:
    """Return the node group of a plan that has the nodes of an offer.

    Raises:
        NodeGroupError: The nodes cannot be described by a line.
    """
    where = f"group {offer.name}"
    try:
        shape = dict(_shape(offer.template))
    except NodesSpecError as error:
        raise NodeGroupError(where, error.problem) from error
    settings = {
        "name": offer.name,
        "price": None if offer.price is None else f"{offer.price:.9f}",
        "min": str(offer.least),
        "max": str(offer.most),
        **shape,
    }
    parts = [f"{key}={value}" for key, value in settings.items() if value is not None]
    for taint in offer.template.spec.taints:
        value = f"={taint.value}" if taint.value else ""
        parts.append(f"taint:{taint.key}{value}:{taint.effect}")
    for part in parts:
        if "," in part:
            raise NodeGroupError(where, f"expected no comma, got {part!r}")
    return parse_node_group(",".join(parts), where)


def _shape(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the settings of a node that ``--nodes`` needs."""
    amounts = {
        name: str(amount)
        for name, amount in node.status.allocatable.items()
        if name in _RESOURCES or is_scalar_resource(name)
    }
    needed = [(name, amounts[name]) for name in _NEEDED if name in amounts]
    yield from needed
    usual = _made(needed)
    others = {name: str(amount) for name, amount in usual.status.allocatable.items()}
    yield from (item for item in amounts.items() if others.get(item[0]) != item[1])
    labels, made = node.labels, usual.labels
    instance_type = labels.get(_INSTANCE_TYPES[0])
    if instance_type and instance_type != made[_INSTANCE_TYPES[0]]:
        yield "instance-type", instance_type
        made = {**made, **dict.fromkeys(_INSTANCE_TYPES, instance_type)}
    for key, value in labels.items():
        if key != _HOSTNAME and made.get(key) != value:
            yield f"label:{key}", value


def _made(needed: Iterable[tuple[str, str]]) -> Node:
    """Return the node that ``--nodes`` makes of the least that it needs."""
    settings = ",".join(f"{name}={amount}" for name, amount in needed)
    [node] = make_nodes([f"1:{settings}"])
    return node
