"""What tests see of Karpenter as an autoscaler."""

from quaymaster._studies.autoscaling.karpenter.controller import KarpenterSetup

__all__ = ["KarpenterSetup"]
