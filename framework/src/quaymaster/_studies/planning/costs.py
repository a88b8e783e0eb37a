"""Divides the prices of nodes among the workloads and namespaces of their pods."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.planning.amounts import Amounts, offered, requested
from quaymaster._studies.simulation.owners import workload_of

__all__ = ["CostShare", "Costs", "costs_of"]

_DIGITS = 6


@attrs.frozen(kw_only=True)
class CostShare:
    """What the pods of a workload or a namespace cost.

    Attributes:
        name: The namespace; or the topmost owner of the pods, as
            ``deployment.apps/NAMESPACE/NAME``; for single pods ``pod/NAMESPACE/NAME``.
        pods: How many pods it has on nodes with a price.
        cost: Their share of the prices of these nodes.
    """

    name: str
    pods: int
    cost: Decimal


@attrs.frozen(kw_only=True)
class Costs:
    """The prices of nodes, divided among their pods.

    A pod has the part of its node's price that it has of the resource of which it
    requests most, compared with what the node offers. If the parts of a node's pods add
    up to more than the whole, they are reduced to it. The rest of the price is idle.

    Attributes:
        workloads: By workload, the most expensive first.
        namespaces: By namespace, the most expensive first.
        idle: What no pod requests.
        total: The prices of all nodes that have one.
        unpriced: How many nodes have no price.
    """

    workloads: tuple[CostShare, ...] = ()
    namespaces: tuple[CostShare, ...] = ()
    idle: Decimal = Decimal(0)
    total: Decimal = Decimal(0)
    unpriced: int = 0


def costs_of(
    cluster: InMemoryCluster,
    prices: Mapping[str, Decimal],
    pods_of: Mapping[str, Sequence[Pod]],
) -> Costs:
    """Divide the prices of a cluster's nodes.

    Args:
        cluster: The cluster, with the owners of the pods.
        prices: Node -> its price; nodes without a price are missing.
        pods_of: Node -> the pods that use its resources.
    """
    workloads: dict[str, list[Decimal]] = defaultdict(list)
    namespaces: dict[str, list[Decimal]] = defaultdict(list)
    total = used = Decimal(0)
    nodes = cluster.list(Node).items
    for node in nodes:
        if node.name not in prices:
            continue
        price = prices[node.name]
        total += price
        for pod, part in _parts(node, pods_of.get(node.name, ())):
            cost = price * part
            used += cost
            workloads[workload_of(pod, cluster)].append(cost)
            namespaces[pod.namespace].append(cost)
    return Costs(
        workloads=_shares(workloads),
        namespaces=_shares(namespaces),
        idle=round(total - used, _DIGITS),
        total=total,
        unpriced=sum(node.name not in prices for node in nodes),
    )


def _parts(node: Node, pods: Sequence[Pod]) -> Iterable[tuple[Pod, Decimal]]:
    """Return the part of its node that each pod has."""
    offer = offered(node)
    parts = [_part(requested(pod), offer) for pod in pods]
    # The pods of an overcommitted node pay its price together, and not more.
    whole = max(sum(parts, Decimal(0)), Decimal(1))
    return [(pod, part / whole) for pod, part in zip(pods, parts, strict=True)]


def _part(amounts: Amounts, offer: Amounts) -> Decimal:
    return max(
        (
            Decimal(amount) / offer[name]
            for name, amount in amounts.items()
            if offer.get(name)
        ),
        default=Decimal(0),
    )


def _shares(costs: Mapping[str, Sequence[Decimal]]) -> tuple[CostShare, ...]:
    shares = [
        CostShare(
            name=name, pods=len(parts), cost=round(sum(parts, Decimal(0)), _DIGITS)
        )
        for name, parts in costs.items()
    ]
    shares.sort(key=lambda share: (-share.cost, natural_key(share.name)))
    return tuple(shares)
