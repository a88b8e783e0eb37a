"""What tests see of Karpenter's disruption."""

from quaymaster._studies.autoscaling.karpenter.disruption import recorder
from quaymaster._studies.autoscaling.karpenter.disruption.budgets import (
    allowed_disruptions,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Blocked as BlockedNode,
)
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import (
    Candidate,
    CandidateFinder,
)
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.consolidation import (
    Consolidation,
)
from quaymaster._studies.autoscaling.karpenter.disruption.costs import (
    eviction_cost,
    reschedule_cost,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    DisruptionEvent,
    DisruptionEvents,
    ignore,
)
from quaymaster._studies.autoscaling.karpenter.disruption.methods import (
    METHODS,
    STATIC_DRIFT,
    Method,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import Survey

__all__ = [
    "METHODS",
    "STATIC_DRIFT",
    "BlockedNode",
    "Candidate",
    "CandidateFinder",
    "Command",
    "Consolidation",
    "DisruptionEvent",
    "DisruptionEvents",
    "Method",
    "Survey",
    "allowed_disruptions",
    "eviction_cost",
    "ignore",
    "recorder",
    "reschedule_cost",
]
