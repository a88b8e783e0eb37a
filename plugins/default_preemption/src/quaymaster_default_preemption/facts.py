"""Explain what preemption can do on a node, and why it does not help there."""

from collections.abc import Sequence
from typing import Final

from quaymaster import NodeInfo, Pod, Status
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import Candidate, Search, is_protected

__all__ = ["Outcomes"]

_MOST_NAMED: Final = 3


class Outcomes:
    """The results of a dry run on all nodes where preemption may help.

    Args:
        search: The candidates, and the statuses of the other nodes.
        budgets: All disruption budgets.
    """

    def __init__(self, search: Search, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._candidates = {
            candidate.node_name: candidate for candidate in search.candidates
        }
        self._statuses = search.statuses
        self._budgets = budgets

    def explain(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        """Return who could be evicted from a node, or why that does not help.

        Args:
            pod: The pod that needs room.
            node: The node.
        """
        lower = [other for other in node.pods.values() if other.priority < pod.priority]
        if not lower:
            return [_no_victims(pod, node)]
        candidate = self._candidates.get(node.name)
        if candidate is not None:
            return self._evictions(candidate)
        status = self._statuses.get(node.name)
        return _useless(lower, status) if status is not None else ()

    def _evictions(self, candidate: Candidate) -> Sequence[str]:
        facts = ["preemption: would make room"]
        facts.append(f"by evicting pod {_named(candidate.victims)}")
        if candidate.violations:
            protected = [
                victim.key
                for victim in candidate.victims
                if is_protected(victim, self._budgets)
            ]
            budgets = [
                budget.key
                for budget in self._budgets
                if any(is_protected(it, [budget]) for it in candidate.victims)
            ]
            facts.append(
                f"against the disruption budget {', '.join(budgets)}, "
                f"which protects {', '.join(protected)}"
            )
        return facts


def _no_victims(pod: Pod, node: NodeInfo) -> str:
    """Explain that no pod on a node has a lower priority."""
    priorities = sorted({other.priority for other in node.pods.values()})
    if not priorities:
        return "preemption: no pod runs there"
    if len(priorities) == 1:
        have = f"priority {priorities[0]}"
    else:
        have = f"priorities from {priorities[0]} to {priorities[-1]}"
    return (
        f"preemption: all pods there have {have}, and this pod has {pod.priority}, "
        "so none can be preempted"
    )


def _useless(lower: Sequence[Pod], status: Status) -> Sequence[str]:
    """Explain that the pod does not fit without the pods of lower priority either."""
    without = "preemption: not even without the pods of lower priority"
    return [f"{without}: {status.message}", f"of lower priority: {_named(lower)}"]


def _named(pods: Sequence[Pod]) -> str:
    names = ", ".join(
        f"{pod.key} (priority {pod.priority})" for pod in pods[:_MOST_NAMED]
    )
    more = len(pods) - _MOST_NAMED
    return f"{names} and {more} more" if more > 0 else names
