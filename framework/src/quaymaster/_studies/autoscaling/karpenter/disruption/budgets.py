"""How many nodes of a NodePool may be disrupted at once.

Mirrors ``GetAllowedDisruptionsByReason`` and ``Budget.IsActive``
(sigs.k8s.io/karpenter v1.15, ``pkg/apis/v1/nodepool.go``).
"""

import math
from typing import Final

from quaymaster._clusters.inmemory.admission.cron_schedules import schedule_problem
from quaymaster._clusters.inmemory.admission.cron_times import next_hit
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.karpenter.objects import Budget, NodePool

__all__ = [
    "DRIFTED",
    "EMPTY",
    "UNDERUTILIZED",
    "UNLIMITED",
    "allowance",
    "allowed_disruptions",
    "next_change",
]

DRIFTED: Final = "Drifted"
EMPTY: Final = "Empty"
UNDERUTILIZED: Final = "Underutilized"

UNLIMITED: Final = 2**31 - 1
"""What a pool allows when no budget is active."""


def allowed_disruptions(pool: NodePool, nodes: int, reason: str, now: float) -> int:
    """Return how many nodes of a pool may be disrupted at once; 0 if a budget is wrong.

    Args:
        pool: The pool.
        nodes: The number of its initialised nodes.
        reason: Why: ``Underutilized``, ``Empty`` or ``Drifted``.
        now: The time.
    """
    allowed = UNLIMITED
    for budget in pool.spec.disruption.budgets:
        number = allowance(budget, nodes, now)
        if number is None:
            return 0
        if not budget.reasons or reason in budget.reasons:
            allowed = min(allowed, number)
    return allowed


def allowance(budget: Budget, nodes: int, now: float) -> int | None:
    """Return what one budget allows now, whatever its reasons; None if it is wrong."""
    is_active = _is_active(budget, now)
    if is_active is None:
        return None
    return _scaled(budget.nodes, nodes) if is_active else UNLIMITED


def next_change(budget: Budget, now: float) -> float:
    """Return when a budget begins or ceases to count; infinite for never."""
    if not budget.schedule or _is_active(budget, now) is None:
        return math.inf
    duration = parse_duration(budget.duration or "0s")
    assert duration is not None  # it would be wrong
    seconds = duration.total_seconds()
    hit = next_hit(budget.schedule, now - seconds)
    if hit is None:
        return math.inf
    return hit + seconds if hit <= now else hit


def _is_active(budget: Budget, now: float) -> bool | None:
    """Return whether a budget counts now; None if its schedule is wrong."""
    if budget.schedule is None and budget.duration is None:
        return True
    schedule = budget.schedule or ""
    duration = parse_duration(budget.duration or "0s")
    if duration is None or schedule.startswith("@every") or schedule_problem(schedule):
        return None
    hit = next_hit(schedule, now - duration.total_seconds())
    # A schedule without a next time counts always, as upstream.
    return hit is None or hit <= now


def _scaled(text: str, nodes: int) -> int | None:
    """Return a number of nodes, or a percentage of them, rounded up."""
    share = text.removesuffix("%")
    if not share.isascii() or not share.isdigit():
        return None
    return int(text) if share == text else math.ceil(int(share) * nodes / 100)
