"""What tests see of ``quaymaster._preemption``."""

from quaymaster._preemption.lowest import LowestPriorities

__all__ = ["LowestPriorities"]
