"""Whether the savings of a command are worth its disruption, for Balanced pools.

Mirrors ``pkg/controllers/disruption/balanced.go`` and ``pkg/state/cost/cost.go``
(sigs.k8s.io/karpenter v1.15).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Candidate,
    CandidateFinder,
    is_balanced,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import (
    Command,
    pool_names,
    source_price,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODE_POOL,
    ZONE,
)

__all__ = [
    "PoolTotals",
    "Score",
    "Verdict",
    "may_pass",
    "pool_totals",
    "verdict_on",
]

_PRICED: Final = (INSTANCE_TYPE, CAPACITY_TYPE, ZONE, NODE_POOL)
"""The labels that a claim needs to count in the price of its pool."""

_K: Final = 2
"""How many times more disruption than savings a pool accepts, as shares of it."""


@attrs.frozen
class PoolTotals:
    """Sums over a pool.

    Attributes:
        cost: What its claims cost per hour.
        disruption: What the disruption of all its nodes would cost.
    """

    cost: float
    disruption: float


@attrs.frozen
class Score:
    """A command as a share of a pool.

    Attributes:
        savings: The part of the pool's price that is saved.
        disruption: The part of the pool's disruption cost.
    """

    savings: float
    disruption: float

    @property
    def value(self) -> float:
        """Savings for each unit of disruption."""
        if self.savings <= 0:
            return 0.0
        return math.inf if self.disruption == 0 else self.savings / self.disruption

    @property
    def is_approved(self) -> bool:
        """Whether the pool accepts it."""
        return self.value >= 1.0 / _K

    def __str__(self) -> str:
        return (
            f"score {self.value:.2f} >= threshold {1.0 / _K:.2f} (k: {_K}, "
            f"savings {self.savings * 100:.1f}%, "
            f"disruption {self.disruption * 100:.1f}%)"
        )


def pool_totals(
    state: ClusterState, candidates: Iterable[Candidate], finder: CandidateFinder
) -> Mapping[str, PoolTotals]:
    """Return the sums over the pools that have candidates.

    Args:
        state: The cluster.
        candidates: All candidates, before a method chooses among them.
        finder: Returns the prices and costs of other nodes.
    """
    by_name = {candidate.name: candidate for candidate in candidates}
    disruption: dict[str, float] = {}
    costs: dict[str, float] = {}
    for node in state.nodes:
        pool = node.labels.get(NODE_POOL)
        if pool is None:
            continue
        candidate = by_name.get(node.name)
        cost = finder.cost_of(node) if candidate is None else candidate.reschedule_cost
        disruption[pool] = disruption.get(pool, 0.0) + cost
        costs[pool] = costs.get(pool, 0.0) + _claim_price(node, finder)
    listed: dict[str, float] = {}
    for candidate in by_name.values():
        name = candidate.pool.name
        listed[name] = listed.get(name, 0.0) + candidate.price
    return {
        # The prices of candidates alone, if those of all claims are unknown
        # (``computeNodePoolTotals``).
        name: PoolTotals(costs.get(name, 0.0) or price, disruption.get(name, 0.0))
        for name, price in listed.items()
    }


def _claim_price(node: StateNode, finder: CandidateFinder) -> float:
    """Return the price of a claim by its labels; 0 if it is unknown."""
    if node.claim is None:
        return 0.0
    labels = node.claim.labels
    if any(key not in labels for key in _PRICED):
        return 0.0
    return finder.price_of(labels[NODE_POOL], labels)


def may_pass(candidate: Candidate, totals: Mapping[str, PoolTotals]) -> bool:
    """Return whether a Balanced pool would let a node go without a new one.

    A replacement never scores higher.
    """
    total = totals.get(candidate.pool.name)
    if total is None or total.cost <= 0:
        return True
    return _score(candidate.price, candidate.reschedule_cost, total).is_approved


@attrs.frozen
class Verdict:
    """What Balanced pools say to a command.

    Attributes:
        scores: The score of each Balanced pool.
    """

    scores: Mapping[str, Score]

    @property
    def holds(self) -> bool:
        """Whether all of them accept it."""
        return all(score.is_approved for score in self.scores.values())


def verdict_on(
    command: Command, totals: Callable[[], Mapping[str, PoolTotals]]
) -> Verdict:
    """Return what the Balanced pools of a command say to it.

    Args:
        command: The command.
        totals: Returns the sums over pools.
    """
    scores: dict[str, Score] = {}
    pools = pool_names(command.candidates)
    savings, price = command.savings, source_price(command.candidates)
    for name in pools:
        members = [each for each in command.candidates if each.pool.name == name]
        if not is_balanced(members[0].pool):
            continue
        share = _share(members, price) if len(pools) > 1 else 1.0
        disruption = sum(each.reschedule_cost for each in members)
        total = totals().get(name, PoolTotals(0.0, 0.0))
        scores[name] = _score(savings * share, disruption, total)
    return Verdict(scores)


def _share(members: Sequence[Candidate], price: float) -> float:
    """Return the part of savings that belongs to some of the nodes of a command."""
    return source_price(members) / price if price > 0 else 1.0


def _score(savings: float, disruption: float, total: PoolTotals) -> Score:
    if total.cost <= 0 or total.disruption <= 0:
        return Score(0.0, 0.0)
    return Score(savings / total.cost, disruption / total.disruption)
