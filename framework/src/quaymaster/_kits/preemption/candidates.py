"""Compares the nodes that preemption could make room on.

Mirrors ``pickOneNodeForPreemption`` (Kubernetes v1.36,
``pkg/scheduler/framework/preemption/preemption.go``) and ``MoreImportantPod``
(``pkg/scheduler/util/utils.go``).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._core.contract.results import Candidate

__all__ = [
    "PRIORITY_OFFSET",
    "Candidates",
    "Cost",
    "best_candidates",
    "importance",
    "started",
]

Cost: TypeAlias = Callable[[Candidate], tuple[float, ...]]
"""Returns the cost of a candidate; of several numbers, the first weighs most."""

PRIORITY_OFFSET: Final = 1 << 31
"""Makes all priorities 0 or more, so that more pods always weigh more."""


def importance(pod: Pod) -> tuple[int, float]:
    """Return a sort key that puts more important pods first.

    A pod of higher priority is more important, then the pod that started earlier. A pod
    that has not started comes last, since upstream assumes that it starts now.
    """
    return -pod.priority, started(pod)


class Candidates(Sequence[Candidate], ABC):
    """Candidates whose best are found without comparing each object."""

    @abstractmethod
    def best(self) -> Sequence[Candidate]:
        """Return the best candidates, as `best_candidates` does."""


def best_candidates(
    candidates: Sequence[Candidate], *, cost: Cost | None = None
) -> Sequence[Candidate]:
    """Return the best candidates, sorted by node name; they are equally good.

    The criteria are, in this order: the violations of budgets (fewest), the highest
    priority among the victims (lowest), the sum of priorities (lowest), the number of
    victims (fewest), and the earliest start among the victims of the highest priority
    (latest). Upstream chooses a random candidate of the remaining ones.

    Args:
        candidates: At least one candidate.
        cost: Replaces the criteria: it returns numbers to compare in their order, and
            the lowest are best. It is called for each candidate, which is slow for
            hundreds. Upstream's ``OrderedScoreFuncs`` have the opposite sign: there the
            highest score is best.
    """
    if cost is None and isinstance(candidates, Candidates):
        return candidates.best()
    costs = [(cost or _cost)(candidate) for candidate in candidates]
    least = min(costs)
    pairs = zip(candidates, costs, strict=True)
    best = [candidate for candidate, cost_of_it in pairs if cost_of_it == least]
    return sorted(best, key=lambda candidate: candidate.node_name)


def _cost(candidate: Candidate) -> tuple[float, ...]:
    victims = candidate.victims
    priorities = [victim.priority for victim in victims]
    highest = max(priorities)
    earliest = min(started(victim) for victim in victims if victim.priority == highest)
    return (
        candidate.violations,
        victims[0].priority,
        sum(priorities) + len(priorities) * PRIORITY_OFFSET,
        len(priorities),
        -earliest,
    )


def started(pod: Pod) -> float:
    """Return when a pod started; infinity if it has not."""
    start = pod.status.start_time
    return math.inf if start is None else float(start)
