"""What tests see of ``quaymaster._clusters.inmemory``."""

from quaymaster._clusters.inmemory.controllers.device_claims import (
    DeviceClaimController,
)
from quaymaster._clusters.inmemory.controllers.index_ranges import IndexRanges
from quaymaster._clusters.inmemory.controllers.known_provisioners import (
    KNOWN_PROVISIONERS,
    KnownProvisioner,
    Reach,
    VolumeSource,
)

__all__ = [
    "KNOWN_PROVISIONERS",
    "MAX_LAG",
    "DeviceClaimController",
    "IndexRanges",
    "KnownProvisioner",
    "Reach",
    "VolumeSource",
]

MAX_LAG = "quaymaster._clusters.inmemory.store._MAX_LAG"
"""How many events a watch may be behind."""
