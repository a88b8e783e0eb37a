"""The condition of a disruption budget: whether it allows a disruption now.

Mirrors ``apps/poddisruptionbudget/helpers.go`` of k8s.io/component-helpers (v0.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Condition, PodDisruptionBudgetStatus, Time

__all__ = ["failure_of", "refusal_of", "with_allowed", "with_failure"]

_TYPE: Final = "DisruptionAllowed"
_FAILED: Final = "SyncFailed"


def with_allowed(
    status: PodDisruptionBudgetStatus, now: Time
) -> PodDisruptionBudgetStatus:
    """Return a status whose condition follows from the number of disruptions."""
    if status.disruptions_allowed > 0:
        return _with(status, "True", "SufficientPods", "", now)
    return _with(status, "False", "InsufficientPods", "", now)


def with_failure(
    status: PodDisruptionBudgetStatus, message: str, now: Time
) -> PodDisruptionBudgetStatus:
    """Return a status that allows nothing, because the pods cannot be counted."""
    status = replace(status, disruptions_allowed=0)
    return _with(status, "False", _FAILED, message, now)


def failure_of(status: PodDisruptionBudgetStatus) -> str:
    """Return why the pods of a budget could not be counted; empty if they were."""
    condition = refusal_of(status)
    if condition is None or condition.reason != _FAILED:
        return ""
    return condition.message


def refusal_of(status: PodDisruptionBudgetStatus) -> Condition | None:
    """Return the condition that no disruption is allowed, if there is one."""
    for condition in status.conditions:
        if condition.type == _TYPE:
            return condition if condition.status == "False" else None
    return None


def _with(
    status: PodDisruptionBudgetStatus, value: str, reason: str, message: str, now: Time
) -> PodDisruptionBudgetStatus:
    new = Condition(
        type=_TYPE,
        status=value,
        observed_generation=status.observed_generation,
        last_transition_time=now,
        reason=reason,
        message=message,
    )
    conditions = list(status.conditions)
    for index, old in enumerate(conditions):
        if old.type == _TYPE:
            if old.status == value:
                new = replace(new, last_transition_time=old.last_transition_time)
            conditions[index] = new
            break
    else:
        conditions.append(new)
    return replace(status, conditions=tuple(conditions))
