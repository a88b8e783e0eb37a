"""What tests see of ``quaymaster._inmemory``."""

from quaymaster._inmemory.controllers.device_claims import DeviceClaimController
from quaymaster._inmemory.controllers.index_ranges import IndexRanges

__all__ = ["MAX_LAG", "DeviceClaimController", "IndexRanges"]

MAX_LAG = "quaymaster._inmemory.store._MAX_LAG"
"""How many events a watch may be behind."""
