"""What an autoscaler does with the input of a plan, in a simulation of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._clusters.inmemory.pod_times import DEFAULT_POD_TIMES
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._studies.planning.growing import Rounds
from quaymaster._studies.planning.pace import LateError, Pace
from quaymaster._studies.planning.question import Counts, Question
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    AutoscalerFactory,
    NodeOffer,
)
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.run import Simulation

__all__ = ["ScaledPlan", "scale"]

_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONES: Final = (
    "topology.kubernetes.io/zone",
    "topology.k8s.aws/zone-id",
    "failure-domain.beta.kubernetes.io/zone",
)


@attrs.frozen(kw_only=True)
class ScaledPlan:
    """What an autoscaler does for the pods of a plan, until it changes nothing more.

    Attributes:
        nodes: Group of the plan -> the nodes that it has added and kept; without those
            that are in no group of the plan.
        added: All nodes that it has added and kept.
        removed: The nodes of the input that it has removed.
        cost: The price of the nodes that it has added and kept; None if one is unknown.
        pending: The pods without a node at the end.
        seconds: When the last of the nodes was ready, since the beginning.
        rounds: The nodes of each order, in the order of the plan's groups; the first
            round is the input. Empty if some are in no group of the plan.
    """

    nodes: Mapping[str, int]
    added: int
    removed: int
    cost: Decimal | None
    pending: int
    seconds: float
    rounds: Rounds = ()


def scale(
    question: Question,
    factory: AutoscalerFactory,
    offers: Sequence[NodeOffer],
    pace: Pace,
) -> ScaledPlan | None:
    """Simulate an autoscaler on the input of a plan.

    Args:
        question: The question of the plan, whose groups are those of the offers.
        factory: Makes the autoscaler.
        offers: The nodes that it may add.
        pace: Ends the simulation when the time is over.

    Returns:
        What it has done; None if the time was over before it had settled.

    Raises:
        AdmissionError: Some objects are invalid, or create too many pods.
        ProfileError: A profile's plugins cannot be built.
    """
    cluster = filled_cluster(
        list(question.objects),
        question.seed,
        question.max_pods,
        kubernetes=question.config.kubernetes,
        times=DEFAULT_POD_TIMES,
    )
    with Simulation(
        cluster,
        config=question.config,
        registry=question.registry,
        seed=question.seed,
        options=SchedulerOptions(daemon_sets_first=question.daemon_sets_first),
        autoscaler=factory,
    ) as simulation:
        try:
            pace.settle(simulation)
        except LateError:
            return None
        assert simulation.autoscaler is not None
        lives = simulation.autoscaler.nodes()
        pending = len(simulation.result().unscheduled)
        nodes = {node.name: node for node in cluster.list(Node).items}
    return _plan(question, offers, lives, nodes, pending)


def _plan(
    question: Question,
    offers: Sequence[NodeOffer],
    lives: Iterable[AutoscaledNode],
    nodes: Mapping[str, Node],
    pending: int,
) -> ScaledPlan:
    kept, removed = [], 0
    for life in lives:
        if life.removed is None and life.ordered is not None:
            kept.append(life)
        elif life.removed is not None and life.ordered is None:
            removed += 1
    indexes = [_index(life, nodes.get(life.node), offers) for life in kept]
    prices = [
        _price(question, life, index) for life, index in zip(kept, indexes, strict=True)
    ]
    counts = Counter(offers[index].name for index in indexes if index is not None)
    costs = [price for price in prices if price is not None]
    return ScaledPlan(
        nodes={offer.name: counts[offer.name] for offer in offers},
        added=len(kept),
        removed=removed,
        cost=sum(costs, Decimal(0)) if len(costs) == len(kept) else None,
        pending=pending,
        seconds=max((life.ready or 0.0 for life in kept), default=0.0),
        rounds=_rounds(kept, indexes, len(offers)),
    )


def _index(
    life: AutoscaledNode, node: Node | None, offers: Sequence[NodeOffer]
) -> int | None:
    """Return which offer a node is of, or None."""
    of_group = [i for i, offer in enumerate(offers) if offer.group == life.group]
    if len(of_group) == 1:
        return of_group[0]
    labels = set(node.labels.items()) if node is not None else set()
    # An offer of one zone may replace those of all zones.
    for ignored in ((_HOSTNAME,), (_HOSTNAME, *_ZONES)):
        for i in of_group:
            if _labels(offers[i], ignored) <= labels:
                return i
    return None


def _labels(offer: NodeOffer, ignored: Sequence[str]) -> set[tuple[str, str]]:
    labels = offer.template.labels.items()
    return {(key, value) for key, value in labels if key not in ignored}


def _price(
    question: Question, life: AutoscaledNode, index: int | None
) -> Decimal | None:
    """Return the price of a node: that of its group in the plan, or its own."""
    if index is not None:
        return question.groups[index].price
    return None if life.price is None else Decimal(repr(life.price))


def _rounds(
    kept: Sequence[AutoscaledNode], indexes: Sequence[int | None], groups: int
) -> Rounds:
    """Return how many nodes of each group were ordered at each time."""
    orders: dict[float, list[int]] = {}
    for life, index in sorted(
        zip(kept, indexes, strict=True), key=lambda pair: pair[0].ordered or 0.0
    ):
        if index is None:
            return ()
        orders.setdefault(life.ordered or 0.0, [0] * groups)[index] += 1
    first: Counts = (0,) * groups
    return (first, *map(tuple, orders.values()))
