"""What tests see of ``quaymaster._preemption``."""

from quaymaster._preemption.lowest import LowestPriorities
from quaymaster._preemption.row_trial import NO_VICTIMS
from quaymaster._preemption.search import SameStatus, Search

__all__ = ["NO_VICTIMS", "LowestPriorities", "SameStatus", "Search"]
