"""Disruption budgets that are counted down while removals are tried.

Mirrors ``core/scaledown/pdb/basic.go``.
"""

from collections.abc import Iterable, Iterator

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._api.objects.selectors import Selector, compile_label_selector

__all__ = ["RemainingBudgets"]


class RemainingBudgets:
    """How many more pods each budget allows to evict.

    Args:
        budgets: The budgets, with the status of now.
    """

    def __init__(self, budgets: Iterable[PodDisruptionBudget] = ()) -> None:
        self._selectors: list[tuple[str, Selector]] = []
        self._allowed: list[int] = []
        for budget in budgets:
            if budget.spec.selector is not None:
                selector = compile_label_selector(budget.spec.selector)
                self._selectors.append((budget.namespace, selector))
                self._allowed.append(budget.status.disruptions_allowed)

    def matching(self, pod: Pod) -> Iterator[int]:
        """Yield how many evictions each budget of a pod still allows."""
        for number in self._budgets_of(pod):
            yield self._allowed[number]

    def allow_at_once(self, pods: Iterable[Pod]) -> bool:
        """Return whether all of some pods may be evicted at the same time."""
        counts: dict[int, int] = {}
        for pod in pods:
            for number in self._budgets_of(pod):
                counts[number] = counts.get(number, 0) + 1
        return all(
            max(1, count) <= self._allowed[number] for number, count in counts.items()
        )

    def use(self, pods: Iterable[Pod]) -> None:
        """Count some pods as evicted."""
        for pod in pods:
            for number in self._budgets_of(pod):
                self._allowed[number] -= 1

    def _budgets_of(self, pod: Pod) -> Iterator[int]:
        for number, (namespace, selector) in enumerate(self._selectors):
            if namespace == pod.namespace and selector.matches(pod.labels):
                yield number
