"""Several nodes that go at once, with one replacement at most.

Mirrors ``pkg/controllers/disruption/multinodeconsolidation.go``
(sigs.k8s.io/karpenter v1.15), without its limit of one minute.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.balanced import (
    PoolTotals,
    Score,
    verdict_on,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.consolidation import (
    Consolidation,
    cheaper_types,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    APPROVED,
    DisruptionEvent,
    Report,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    compatible_offerings,
)
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements

__all__ = ["MOST_NODES", "multi_node_command", "within_budgets"]

_MOST: Final = 100

MOST_NODES: Final = _MOST + 1
"""The most nodes of a command."""


def within_budgets(
    candidates: Iterable[Candidate],
    budgets: Mapping[str, int],
    most: int | None = None,
) -> Sequence[Candidate]:
    """Return the first nodes that the budgets of their pools allow together.

    Args:
        candidates: The nodes.
        budgets: How many more nodes of each pool may be disrupted.
        most: How many nodes are enough; None for all.
    """
    left = dict(budgets)
    allowed: list[Candidate] = []
    for candidate in candidates:
        if len(allowed) == most:
            break
        pool = candidate.pool.name
        if left.get(pool, 0) > 0:
            left[pool] -= 1
            allowed.append(candidate)
    return allowed


def multi_node_command(
    candidates: Sequence[Candidate],
    consolidation: Consolidation,
    totals: Callable[[], Mapping[str, PoolTotals]],
    report: Report,
    well_known: frozenset[str],
) -> Command | None:
    """Return the command for the most nodes that can go at once, or None.

    The search halves the number of nodes, as upstream does: it takes for granted that
    fewer nodes can go whenever more can.

    Args:
        candidates: The nodes within budgets, in order.
        consolidation: Tries to do without them.
        totals: Returns the sums over pools.
        report: Gets events.
        well_known: Labels that each new node may have.
    """
    # These are indexes, so a command has at least two nodes. Single nodes have a method
    # of their own.
    least, most = 1, min(_MOST, len(candidates) - 1)
    best: Command | None = None
    scores: Mapping[str, Score] = {}
    rejected: Mapping[str, Score] = {}
    while least <= most:
        # A count that fails hides larger ones that would succeed, as in
        # ``firstNConsolidationOption`` (multinodeconsolidation.go).
        middle = (least + most) // 2
        command = _valid(candidates[: middle + 1], consolidation, well_known)
        verdict = None if command is None else verdict_on(command, totals)
        if verdict is not None and verdict.holds:
            # A command without pools of the policy Balanced keeps the scores of an
            # earlier, smaller one, as upstream.
            best, scores = command, verdict.scores or scores
            least = middle + 1
        else:
            most = middle - 1
            if verdict is not None:
                rejected = verdict.scores or rejected
    # Pools that approve are reported for a command that others reject, too.
    for name, score in (rejected if best is None else scores).items():
        if score.is_approved:
            report(DisruptionEvent("NodePool", name, APPROVED, str(score)))
    return best


def _valid(
    candidates: Sequence[Candidate],
    consolidation: Consolidation,
    well_known: frozenset[str],
) -> Command | None:
    command = consolidation.command(candidates)
    if command is None or not command.replacements:
        return command
    return _without_same_types(command, well_known)


def _without_same_types(command: Command, well_known: frozenset[str]) -> Command | None:
    """Return a command without the types that would make it pointless, or None.

    If one of the nodes has a type of the replacement, that node could stay instead. So
    the replacement must cost less than the cheapest such node.
    """
    [claim] = command.replacements
    prices = _prices_by_type(command.candidates, well_known)
    same = {each.name for each in claim.instance_types} & {
        each.instance_type.name for each in command.candidates if each.instance_type
    }
    price = min((prices.get(name, 0.0) for name in same), default=math.inf)
    cheaper, problem = cheaper_types(claim, price, well_known)
    if problem or not cheaper.instance_types:
        return None
    return attrs.evolve(command, replacements=(cheaper,))


def _prices_by_type(
    candidates: Iterable[Candidate], well_known: frozenset[str]
) -> Mapping[str, float]:
    """Return the price of the cheapest node of each type."""
    prices: dict[str, float] = {}
    for candidate in candidates:
        instance_type = candidate.instance_type
        if instance_type is None:
            continue
        labels = Requirements.from_labels(candidate.node.labels)
        offerings = compatible_offerings(instance_type.offerings, labels, well_known)
        if offerings:
            price = min(offering.price for offering in offerings)
            name = instance_type.name
            prices[name] = min(price, prices.get(name, math.inf))
    return prices
