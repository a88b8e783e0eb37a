"""Evictions: pods are deleted if their disruption budget allows it.

Mirrors ``pkg/registry/core/pod/storage/eviction.go`` (Kubernetes v1.36).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Condition,
    Pod,
    PodCondition,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    Time,
)
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import SelectorError
from quaymaster._clusters.inmemory.controllers.budgets import (
    DISRUPTION_ALLOWED,
    SYNC_FAILED,
    with_allowed,
)
from quaymaster._clusters.inmemory.controllers.pods import is_ready
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.cluster import (
    ApiError,
    ForbiddenError,
    TooManyRequestsError,
)

__all__ = ["evict"]

_REFUSED: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_NOT_NOW: Final = "The disruption budget {} does not allow evicting pods currently"
_SEVERAL: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource "
    "does not support."
)
_UNDER_WAY: Final = 2000  # upstream's ``MaxDisruptedPodSize``
_RETRY_SECONDS: Final = 10
_EVICTED: Final = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="EvictionByEvictionAPI",
    message="Eviction API: evicting",
)


def evict(core: ClusterCore, pod: Pod, grace_period_seconds: float | None) -> None:
    """Delete a stored pod, unless a budget forbids it.

    Raises:
        TooManyRequestsError: A budget forbids it now.
        ForbiddenError: The status of a budget is inconsistent.
        ApiError: More than one budget selects the pod.
    """
    if not _needs_no_budget(pod):
        budgets = _budgets_of(core, pod)
        if len(budgets) > 1:
            # Upstream returns a server error for this, with this text.
            raise ApiError(_SEVERAL)
        # None or one.
        for budget in budgets:
            if not _is_unhealthy_and_free(pod, budget):
                _use_up(core, budget, pod)
    # After all checks: a refused eviction must leave no trace in the pod.
    conditions = with_condition(pod.status.conditions, _EVICTED, Time(core.clock.now()))
    status = replace(pod.status, conditions=conditions)
    core.delete(core.change(pod, replace(pod, status=status)), grace_period_seconds)


def _needs_no_budget(pod: Pod) -> bool:
    """Return whether a pod has ended, is being deleted, or has not started."""
    return pod.is_finished or pod.is_terminating or pod.status.phase == "Pending"


def _budgets_of(core: ClusterCore, pod: Pod) -> list[PodDisruptionBudget]:
    return [
        budget
        for budget in core.objects(PodDisruptionBudget).values()
        if budget.namespace == pod.namespace and _selects(budget, pod)
    ]


def _selects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    try:
        selector = compile_label_selector(budget.spec.selector)
    except SelectorError:
        # An invalid selector selects nothing, as in ``getPodDisruptionBudgets``.
        return False
    return selector.matches(pod.metadata.labels)


def _is_unhealthy_and_free(pod: Pod, budget: PodDisruptionBudget) -> bool:
    """Return whether a pod is not ready, and may be evicted without being counted."""
    if is_ready(pod):
        return False
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    status = budget.status
    # A pod that is not ready takes nothing from a budget that is met
    # (``IfHealthyBudget``, the default).
    return status.current_healthy >= status.desired_healthy > 0


def _use_up(core: ClusterCore, budget: PodDisruptionBudget, pod: Pod) -> None:
    """Take one disruption from what a budget allows.

    Raises:
        TooManyRequestsError: It allows none now.
        ForbiddenError: The status is inconsistent.
    """
    status, name = budget.status, budget.name
    # The counts are those of an older spec, so the caller has to try again.
    if status.observed_generation < budget.metadata.generation:
        cause = f"The disruption budget {name} is still being processed by the server."
        raise TooManyRequestsError(
            _REFUSED, cause=cause, retry_after_seconds=_RETRY_SECONDS
        )
    if status.disruptions_allowed < 0:
        raise _forbidden(name, "pdb disruptions allowed is negative")
    # The controller has confirmed none of many evictions, so its counts cannot be
    # trusted.
    if len(status.disrupted_pods) > _UNDER_WAY:
        raise _forbidden(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB "
            "controller",
        )
    if not status.disruptions_allowed:
        raise TooManyRequestsError(_REFUSED, cause=_why_none(budget))
    status = replace(
        status,
        disruptions_allowed=status.disruptions_allowed - 1,
        # The eviction is counted here and now: the controller would be too late for the
        # next request.
        disrupted_pods=status.disrupted_pods | {pod.name: Time(core.clock.now())},
    )
    if not status.disruptions_allowed:
        status = with_allowed(status, Time(core.clock.now()))
    core.change(budget, replace(budget, status=status))


def _forbidden(name: str, reason: str) -> ForbiddenError:
    return ForbiddenError("poddisruptionbudget.policy", name, reason)


def _why_none(budget: PodDisruptionBudget) -> str:
    status, name = budget.status, budget.name
    refusal = _refusal_of(status)
    message = "" if refusal is None else refusal.message
    # First: without counts, the numbers of pods mean nothing.
    if refusal is not None and message and refusal.reason == SYNC_FAILED:
        return f"{_NOT_NOW.format(name)} because it failed sync: {message}"
    if status.current_healthy <= status.desired_healthy:
        return (
            f"The disruption budget {name} needs {status.desired_healthy} healthy pods "
            f"and has {status.current_healthy} currently"
        )
    if refusal is not None and message:
        return f"{_NOT_NOW.format(name)} ({refusal.reason}): {message}"
    return _NOT_NOW.format(name)


def _refusal_of(status: PodDisruptionBudgetStatus) -> Condition | None:
    """Return the condition that no disruption is allowed, if there is one."""
    for condition in status.conditions:
        if condition.type == DISRUPTION_ALLOWED:
            return condition if condition.status == "False" else None
    return None
