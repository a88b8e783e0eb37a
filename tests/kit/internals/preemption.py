"""What tests see of ``quaymaster._preemption``."""

from quaymaster._contract.handle import LastingFilters
from quaymaster._preemption.columns import VictimColumns
from quaymaster._preemption.lowest import LowestPriorities
from quaymaster._preemption.row_memo import RowMemo, RowMemos
from quaymaster._preemption.row_trial import NO_VICTIMS, RowTrial
from quaymaster._preemption.rules import LOWER_PRIORITY
from quaymaster._preemption.search import SameStatus, Search

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
]
