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
"""What is lost if a candidate is chosen; of several numbers, the first weighs most."""

PRIORITY_OFFSET: Final = 1 << 31
"""Lifts all priorities to 0 or more, so that more pods always weigh more."""


def importance(pod: Pod) -> tuple[int, float]:
    """A sort key that puts more important pods first.

    A pod of higher priority is more important; of equal ones, the one that started
    earlier. A pod that has not started comes last, as upstream takes it to start now.
    """
    return -pod.priority, started(pod)


class Candidates(Sequence[Candidate], ABC):
    """Candidates that know the best of them without looking at each."""

    @abstractmethod
    def best(self) -> Sequence[Candidate]:
        """The best ones, as `best_candidates` finds them."""


def best_candidates(
    candidates: Sequence[Candidate], *, cost: Cost | None = None
) -> Sequence[Candidate]:
    """The best candidates by the name of the node; all of them are equally good.

    Compared are, in this order: the violations of budgets (fewest), the highest
    priority among the victims (lowest), the sum of priorities (lowest), the number of
    victims (fewest), and the earliest start among the victims of the highest priority
    (latest). Upstream takes a random one of those that are left.

    Args:
        candidates: The candidates, of which there is at least one.
        cost: What is compared instead: the number, or the several in their order, that
            a candidate is to have the least of. It looks at each candidate, which is
            slow where there are hundreds. Upstream's ``OrderedScoreFuncs`` are the
            same, but for the sign: what has the highest score has the least cost.
    """
    if cost is None and isinstance(candidates, Candidates):
        return candidates.best()
    costs = [(cost or _cost)(candidate) for candidate in candidates]
    least = min(costs)
    best = [one for one, own in zip(candidates, costs, strict=True) if own == least]
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
    """When a pod started; infinite if it has not."""
    start = pod.status.start_time
    return math.inf if start is None else float(start)
