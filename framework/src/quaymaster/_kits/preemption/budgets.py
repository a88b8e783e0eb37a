"""Disruption budgets: the pods that they protect.

Mirrors ``filterPodsWithPDBViolation`` (Kubernetes v1.36,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from collections.abc import Iterable, Sequence

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._api.objects.selectors import NOTHING, Selector, compile_label_selector
from quaymaster._base.errors import SelectorError

__all__ = ["BudgetUse", "is_protected", "split_by_budgets"]


def split_by_budgets(
    pods: Iterable[Pod],
    budgets: Sequence[PodDisruptionBudget],
    *,
    stops_at_violated: bool = False,
) -> tuple[list[Pod], list[Pod]]:
    """Split pods into those whose eviction would break a budget, and the others.

    Each pod counts against all budgets that select it. Once a budget is used up, the
    eviction of further pods breaks it.

    Args:
        pods: The pods, in the order in which they use the budgets up.
        budgets: All budgets.
        stops_at_violated: Whether a pod does not count against the budgets after the
            first budget that its eviction breaks, as since Kubernetes 1.37. Upstream
            has no order of budgets then; here they are sorted by namespace and name.

    Returns:
        The pods that would break a budget, and those that would not, both in order.
    """
    if not budgets:
        return [], list(pods)
    use = BudgetUse(budgets, stops_at_violated=stops_at_violated)
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        (violating if use.breaks(pod) else others).append(pod)
    return violating, others


class BudgetUse:
    """Counts evictions against budgets.

    Args:
        budgets: All budgets.
        stops_at_violated: See `split_by_budgets`.
    """

    def __init__(
        self, budgets: Sequence[PodDisruptionBudget], *, stops_at_violated: bool
    ) -> None:
        if stops_at_violated:
            budgets = sorted(budgets, key=lambda it: (it.namespace, it.name))
        self._stops = stops_at_violated
        self._budgets = budgets
        self._selectors = [_selector(budget) for budget in budgets]
        self._left = [budget.status.disruptions_allowed for budget in budgets]

    def breaks(self, pod: Pod) -> bool:
        """Count the eviction of a pod; return whether it breaks a budget."""
        broken = False
        for index, budget in enumerate(self._budgets):
            if _counts(pod, budget, self._selectors[index]):
                self._left[index] -= 1
                broken = broken or self._left[index] < 0
                if broken and self._stops:
                    break
        return broken


def is_protected(pod: Pod, budgets: Iterable[PodDisruptionBudget]) -> bool:
    """Whether any budget selects a pod, even if it still allows disruptions."""
    return any(_counts(pod, budget, _selector(budget)) for budget in budgets)


def _counts(pod: Pod, budget: PodDisruptionBudget, selector: Selector) -> bool:
    """Whether the eviction of a pod counts against a budget.

    A budget without any requirement selects no pods here. A pod that is already being
    evicted has been counted by the API server.
    """
    return (
        budget.namespace == pod.namespace
        and bool(pod.metadata.labels)
        and not selector.matches_everything
        and selector.matches(pod.metadata.labels)
        and pod.name not in budget.status.disrupted_pods
    )


def _selector(budget: PodDisruptionBudget) -> Selector:
    try:
        return compile_label_selector(budget.spec.selector)
    except SelectorError:
        return NOTHING
