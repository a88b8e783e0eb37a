"""Until when a look at a cluster has the same result, if no object changes.

A cluster that rests is looked at every ten seconds for weeks, so a simulation must know
which looks it can leave out: with 20 nodes a month took more than an hour, now seconds.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._studies.autoscaling.karpenter.cluster import StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import next_change
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.pods import disruption_allowed_at

__all__ = [
    "NEW_SECONDS",
    "budgets_hold_until",
    "condition_holds_until",
    "node_holds_until",
]

NEW_SECONDS: Final = 3600
"""How old a claim must be until its type is looked up."""

_MARGIN: Final = 0.001
"""Seconds by which sums of times may differ from what a rule compares."""


def condition_holds_until(node: StateNode, pool: NodePool, now: float) -> float:
    """Return when time alone may change the conditions of a claim; infinite for never.

    Args:
        node: The machine of the claim.
        pool: Its pool.
        now: The time.
    """
    return _first(now, _changes_of_claim(node, pool))


def node_holds_until(node: StateNode, pool: NodePool | None, now: float) -> float:
    """Return when time alone may change what is found about a node; infinite for never.

    Args:
        node: The node.
        pool: Its pool, or None.
        now: The time.
    """
    return _first(now, _changes_of_node(node, pool))


def budgets_hold_until(pools: Iterable[NodePool], now: float, today: float) -> float:
    """Return when time alone may change what budgets allow; infinite for never.

    Args:
        pools: The pools.
        now: The time.
        today: The time on the calendar, for budgets with a schedule.
    """
    budgets = (each for pool in pools for each in pool.spec.disruption.budgets)
    return _first(now, (next_change(each, today) - today + now for each in budgets))


def _first(now: float, moments: Iterable[float | None]) -> float:
    later = (each for each in moments if each is not None and each > now - _MARGIN)
    return min(later, default=math.inf) - _MARGIN


def _changes_of_node(node: StateNode, pool: NodePool | None) -> Iterator[float | None]:
    yield from _changes_of_claim(node, pool)
    yield node.nominated_until
    for pod in node.pods:
        yield disruption_allowed_at(pod)


def _changes_of_claim(node: StateNode, pool: NodePool | None) -> Iterator[float | None]:
    if node.claim is not None:
        yield node.consolidate_after_end(pool)
        birth = node.claim.metadata.creation_timestamp
        yield None if birth is None else birth + NEW_SECONDS
