"""What a PostFilter plugin needs to make room by evicting pods."""

from quaymaster._contract.messages import unfit_message
from quaymaster._contract.results import Candidate
from quaymaster._preemption.budgets import is_protected, split_by_budgets
from quaymaster._preemption.candidates import best_candidates, importance
from quaymaster._preemption.dry_run import DryRun, NodeTrial, select_victims
from quaymaster._preemption.evictions import Evictions, is_preempted

__all__ = [
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
    "unfit_message",
]
