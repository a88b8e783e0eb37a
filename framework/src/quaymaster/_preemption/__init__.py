"""Preemption: what PostFilter plugins share which make room by evicting pods.

A plugin finds the nodes that are worth a try (those whose status is Unschedulable),
asks a `DryRun` which pods would have to go from each, chooses among the candidates with
`best_candidates`, and lets `Evictions` do the work. What differs between plugins (who
may preempt whom, how many nodes are tried, what happens to nominations) stays with
them.

Mirrors Kubernetes v1.36, ``pkg/scheduler/framework/preemption``.
"""

from quaymaster._contract.results import Candidate
from quaymaster._preemption.budgets import is_protected, split_by_budgets
from quaymaster._preemption.candidates import best_candidates, importance
from quaymaster._preemption.dry_run import DryRun, NodeTrial, select_victims
from quaymaster._preemption.evictions import Evictions, is_preempted
from quaymaster._preemption.row_trial import NO_VICTIMS

__all__ = [
    "NO_VICTIMS",
    "Candidate",
    "DryRun",
    "Evictions",
    "NodeTrial",
    "best_candidates",
    "importance",
    "is_preempted",
    "is_protected",
    "select_victims",
    "split_by_budgets",
]
