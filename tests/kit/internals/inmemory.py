"""What tests see of ``quaymaster._clusters.inmemory``."""

from quaymaster._clusters.inmemory.controllers.device_claims import (
    DeviceClaimController,
)
from quaymaster._clusters.inmemory.controllers.index_ranges import IndexRanges

__all__ = ["MAX_LAG", "DeviceClaimController", "IndexRanges"]

MAX_LAG = "quaymaster._clusters.inmemory.store._MAX_LAG"
"""How many events a watch may be behind."""
