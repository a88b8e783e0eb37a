"""What tests see of Karpenter as an autoscaler."""

from quaymaster._studies.autoscaling.karpenter.conditions import ClaimConditions
from quaymaster._studies.autoscaling.karpenter.controller import KarpenterSetup
from quaymaster._studies.autoscaling.karpenter.lifecycle import Lifecycle
from quaymaster._studies.autoscaling.karpenter.machines import Failure, LaunchTimes
from quaymaster._studies.autoscaling.karpenter.states import StateReader

__all__ = [
    "ClaimConditions",
    "Failure",
    "KarpenterSetup",
    "LaunchTimes",
    "Lifecycle",
    "StateReader",
]
