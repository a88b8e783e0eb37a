"""Checks NodePools that a simulation begins with.

An API server has checked those of a dump; those of a file have mistakes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from quaymaster._clusters.inmemory.admission.cron_schedules import schedule_problem
from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.karpenter.objects import Budget, NodePool

__all__ = ["check_pools"]

_NEVER: Final = "Never"
_NODES: Final = re.compile(r"[0-9]+|(?:[0-9]|[1-9][0-9]|100)%", re.ASCII)
_POLICIES: Final = ("WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced")
_OPERATORS: Final = frozenset(
    ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")
)


def check_pools(pools: Iterable[NodePool], source: str) -> None:
    """Check pools.

    Args:
        pools: The pools.
        source: The name of the file of Karpenter, for messages.

    Raises:
        AutoscalerError: There is none, or one cannot be used.
    """
    pools = list(pools)
    if not pools:
        problem = "expected a NodePool in nodePools or in the input, got none"
        raise AutoscalerError(source, problem)
    for pool in pools:
        for problem in _problems(pool):
            raise AutoscalerError(f"NodePool {pool.name}", problem)


def _problems(pool: NodePool) -> Iterator[str]:
    template, disruption = pool.spec.template.spec, pool.spec.disruption
    durations = {
        "spec.disruption.consolidateAfter": disruption.consolidate_after,
        "spec.template.spec.expireAfter": template.expire_after,
        "spec.template.spec.terminationGracePeriod": template.termination_grace_period,
    }
    for field, text in durations.items():
        if text not in (None, _NEVER) and parse_duration(text or "") is None:
            yield f"{field}: expected a duration such as 30s, or Never, got {text!r}"
    if disruption.consolidation_policy not in _POLICIES:
        yield (
            f"spec.disruption.consolidationPolicy: expected {', '.join(_POLICIES)}, "
            f"got {disruption.consolidation_policy!r}"
        )
    for number, budget in enumerate(disruption.budgets):
        for problem in _budget_problems(budget):
            yield f"spec.disruption.budgets[{number}].{problem}"
    for number, requirement in enumerate(template.requirements):
        if requirement.operator not in _OPERATORS:
            yield (
                f"spec.template.spec.requirements[{number}].operator: expected "
                f"{', '.join(sorted(_OPERATORS))}, got {requirement.operator!r}"
            )


def _budget_problems(budget: Budget) -> Iterator[str]:
    if not _NODES.fullmatch(budget.nodes):
        yield f"nodes: expected a number or such as 10%, got {budget.nodes!r}"
    if (budget.schedule is None) != (budget.duration is None):
        yield "schedule: expected it together with duration"
        return
    if budget.schedule is not None:
        problem = schedule_problem(budget.schedule)
        if problem or budget.schedule.startswith("@every"):
            yield f"schedule: {problem or 'expected no @every'}"
    if budget.duration is not None and parse_duration(budget.duration) is None:
        yield f"duration: expected such as 1h30m, got {budget.duration!r}"
