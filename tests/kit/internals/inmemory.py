"""What tests see of ``quaymaster._inmemory``."""

from quaymaster._inmemory.controllers.index_ranges import IndexRanges

__all__ = ["MAX_LAG", "IndexRanges"]

MAX_LAG = "quaymaster._inmemory.store._MAX_LAG"
"""How many events a watch may be behind."""
