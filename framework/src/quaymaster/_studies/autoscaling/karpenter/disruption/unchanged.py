"""Until when a look at a cluster has the same result, if no object changes.

A cluster that rests is looked at every ten seconds for weeks, so a simulation must know
which looks it can leave out: with 20 nodes a month took more than an hour, now seconds.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import next_change
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.pods import disruption_allowed_at

__all__ = [
    "NEW_SECONDS",
    "condition_holds_until",
    "conditions_hold_until",
    "look_holds_until",
    "node_holds_until",
]

NEW_SECONDS: Final = 3600
"""How old a claim must be until its type is looked up."""

_MARGIN: Final = 0.001
"""Seconds by which sums of times may differ from what a rule compares."""


def conditions_hold_until(state: ClusterState) -> float:
    """Return when time alone may change the conditions of claims; infinite for never.

    Args:
        state: The cluster.
    """
    return _first(state.now, _changes_of_claims(state))


def condition_holds_until(node: StateNode, pool: NodePool, now: float) -> float:
    """Return when time alone may change the conditions of a claim; infinite for never.

    Args:
        node: The machine of the claim.
        pool: Its pool.
        now: The time.
    """
    return _first(now, _changes_of_claim(node, pool))


def node_holds_until(node: StateNode, now: float) -> float | None:
    """Return when time alone may change whether a node may be disrupted, or None.

    Args:
        node: The node.
        now: The time.
    """
    until = _first(now, _changes_of_verdict(node))
    return None if until == math.inf else until


def look_holds_until(state: ClusterState, calendar_offset: float) -> float:
    """Return when time alone may change what is found; infinite for never.

    Args:
        state: The cluster.
        calendar_offset: How much later than the time of the state it is on the
            calendar, for budgets with a schedule.
    """
    return _first(state.now, _changes(state, calendar_offset))


def _first(now: float, moments: Iterable[float | None]) -> float:
    later = (each for each in moments if each is not None and each > now - _MARGIN)
    return min(later, default=math.inf) - _MARGIN


def _changes(state: ClusterState, calendar_offset: float) -> Iterator[float | None]:
    yield from _changes_of_claims(state)
    for node in state.nodes:
        yield from _changes_of_verdict(node)
    today = state.now + calendar_offset
    for pool in state.pools.values():
        for budget in pool.spec.disruption.budgets:
            yield next_change(budget, today) - calendar_offset


def _changes_of_verdict(node: StateNode) -> Iterator[float | None]:
    yield node.nominated_until
    for pod in node.pods:
        yield disruption_allowed_at(pod)


def _changes_of_claims(state: ClusterState) -> Iterator[float | None]:
    for node in state.nodes:
        yield from _changes_of_claim(node, state.pools.get(node.pool))


def _changes_of_claim(node: StateNode, pool: NodePool | None) -> Iterator[float | None]:
    if node.claim is not None:
        yield node.consolidate_after_end(pool)
        birth = node.claim.metadata.creation_timestamp
        yield None if birth is None else birth + NEW_SECONDS
