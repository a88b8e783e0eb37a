"""Preemption: the parts of a PostFilter plugin that evicts pods."""

from quaymaster._core.contract.messages import unfit_message
from quaymaster._core.contract.results import Candidate
from quaymaster._kits.preemption.budgets import is_protected, split_by_budgets
from quaymaster._kits.preemption.candidates import best_candidates, importance
from quaymaster._kits.preemption.dry_run import DryRun, select_victims
from quaymaster._kits.preemption.eligibility import why_not_eligible
from quaymaster._kits.preemption.evictions import Evictions, is_preempted
from quaymaster._kits.preemption.group_search import (
    GroupSearch,
    GroupVictims,
    is_waiting_for_victims,
    may_preempt,
)
from quaymaster._kits.preemption.pod_columns import PodColumns
from quaymaster._kits.preemption.rules import Limit, LowerPriority, VictimRule
from quaymaster._kits.preemption.search import NodeTrial, Search
from quaymaster._kits.preemption.unit_trial import find_units
from quaymaster._kits.preemption.units import LowerUnitPriority, VictimUnit

__all__ = [
    "Candidate",
    "DryRun",
    "Evictions",
    "GroupSearch",
    "GroupVictims",
    "Limit",
    "LowerPriority",
    "LowerUnitPriority",
    "NodeTrial",
    "PodColumns",
    "Search",
    "VictimRule",
    "VictimUnit",
    "best_candidates",
    "find_units",
    "importance",
    "is_preempted",
    "is_protected",
    "is_waiting_for_victims",
    "may_preempt",
    "select_victims",
    "split_by_budgets",
    "unfit_message",
    "why_not_eligible",
]
