"""What tests see of ``quaymaster._kits.preemption``."""

from quaymaster._core.contract.filter_runner import LastingFilters
from quaymaster._kits.preemption.candidates import importance
from quaymaster._kits.preemption.columns import VictimColumns
from quaymaster._kits.preemption.eligibility import why_not_eligible
from quaymaster._kits.preemption.lowest import LowestPriorities
from quaymaster._kits.preemption.row_memo import RowMemo, RowMemos
from quaymaster._kits.preemption.row_trial import NO_VICTIMS, RowTrial
from quaymaster._kits.preemption.rules import LOWER_PRIORITY
from quaymaster._kits.preemption.search import SameStatus, Search

__all__ = [
    "LOWER_PRIORITY",
    "NO_VICTIMS",
    "LastingFilters",
    "LowestPriorities",
    "RowMemo",
    "RowMemos",
    "RowTrial",
    "SameStatus",
    "Search",
    "VictimColumns",
    "importance",
    "why_not_eligible",
]
