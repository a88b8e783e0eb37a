"""What the disruption of pods and nodes costs, apart from money.

Mirrors ``pkg/utils/disruption/disruption.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._api.objects.requirements import parse_int64

__all__ = ["BASE_COST", "eviction_cost", "lifetime_remaining", "reschedule_cost"]

BASE_COST: Final = 1.0
"""What a node without pods costs."""

_COST: Final = "karpenter.sh/disruption-cost"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_COST_UNIT: Final = 2.0**27
_PRIORITY_UNIT: Final = 2.0**25
_HIGHEST: Final = 10.0
_INT32: Final = 2**31


def eviction_cost(pod: Pod) -> float:
    """Return what the eviction of a pod costs, from -10 to 10; a plain one costs 1.

    The annotation of ReplicaSets counts if the pod has none of Karpenter.
    """
    cost = BASE_COST
    text = pod.annotations.get(_COST)
    if text is None:
        text = pod.annotations.get(_DELETION_COST)
    number = None if text is None else parse_int64(text)
    if number is not None and -_INT32 <= number < _INT32:
        cost += number / _COST_UNIT
    if pod.spec.priority is not None:
        cost += pod.spec.priority / _PRIORITY_UNIT
    return min(max(cost, -_HIGHEST), _HIGHEST)


def reschedule_cost(pods: Iterable[Pod]) -> float:
    """Return what moving the pods of a node costs; cheap pods give no discount."""
    cost = BASE_COST
    for pod in pods:
        cost += max(0.0, eviction_cost(pod))
    return cost


def lifetime_remaining(
    age: float,
    expire_after: float | None,
) -> float:
    """Return which part of its life a node has before it, from 0 to 1.

    Args:
        age: The age of its claim in seconds.
        expire_after: When the claim expires; None if never.
    """
    if expire_after is None:
        return 1.0
    if expire_after == 0:
        return 0.0 if age > 0 else 1.0
    return min(max((expire_after - age) / expire_after, 0.0), 1.0)
