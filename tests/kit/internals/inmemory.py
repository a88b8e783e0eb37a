"""What tests see of ``quaymaster._clusters.inmemory``."""

from quaymaster._clusters.inmemory.admission.cron_times import next_hit
from quaymaster._clusters.inmemory.admission.device_claim_checks import CLAIM_OF_POD
from quaymaster._clusters.inmemory.controllers.device_claims import (
    DeviceClaimController,
)
from quaymaster._clusters.inmemory.controllers.index_ranges import IndexRanges
from quaymaster._clusters.inmemory.controllers.job_indexes import (
    FAILURES,
    IGNORED_FAILURES,
    INDEX,
)
from quaymaster._clusters.inmemory.controllers.provisioner_facts import (
    KnownProvisioner,
    Reach,
    VolumeSource,
)
from quaymaster._clusters.inmemory.controllers.provisioner_list import (
    KNOWN_PROVISIONERS,
)
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    STARTUP_SECONDS_ANNOTATION,
    TERMINATION_SECONDS_ANNOTATION,
)
from quaymaster._clusters.inmemory.simulated_devices import DEVICES_ANNOTATION

__all__ = [
    "CLAIM_OF_POD",
    "DEVICES_ANNOTATION",
    "FAILURES",
    "IGNORED_FAILURES",
    "INDEX",
    "KNOWN_PROVISIONERS",
    "MAX_LAG",
    "RUN_SECONDS_ANNOTATION",
    "STARTUP_SECONDS_ANNOTATION",
    "TERMINATION_SECONDS_ANNOTATION",
    "DeviceClaimController",
    "IndexRanges",
    "KnownProvisioner",
    "Reach",
    "VolumeSource",
    "next_hit",
]

MAX_LAG = "quaymaster._clusters.inmemory.store._MAX_LAG"
"""The number of events that a watch may be behind."""
