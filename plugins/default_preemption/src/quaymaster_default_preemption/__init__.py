"""Make room for a pod by evicting pods of lower priority."""

from quaymaster_default_preemption.args import DefaultPreemptionArgs
from quaymaster_default_preemption.default_preemption import DefaultPreemption

__all__ = ["DefaultPreemption", "DefaultPreemptionArgs"]
