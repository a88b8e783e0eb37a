"""What tests see of ``quaymaster._inmemory``."""

from quaymaster._inmemory.controllers.index_ranges import IndexRanges

__all__ = ["IndexRanges"]
