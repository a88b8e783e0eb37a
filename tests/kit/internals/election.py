"""What tests see of ``quaymaster._clusters.election``."""

from quaymaster._clusters.election.candidate import Candidate, ElectionStatus, HeldLease
from quaymaster._clusters.election.elector import (
    LeaderElector,
    election_client,
    new_identity,
)
from quaymaster._clusters.election.fence import Fence, boot_seconds
from quaymaster._clusters.election.rules import Answer, Ask, Clocks, Pause, Rules

__all__ = [
    "Answer",
    "Ask",
    "Candidate",
    "Clocks",
    "ElectionStatus",
    "Fence",
    "HeldLease",
    "LeaderElector",
    "Pause",
    "Rules",
    "boot_seconds",
    "election_client",
    "new_identity",
]
