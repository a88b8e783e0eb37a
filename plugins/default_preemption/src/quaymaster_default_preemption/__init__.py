"""Make room for a pod by evicting less important ones."""

from quaymaster_default_preemption.args import DefaultPreemptionArgs
from quaymaster_default_preemption.default_preemption import DefaultPreemption
from quaymaster_default_preemption.search import Search

__all__ = ["DefaultPreemption", "DefaultPreemptionArgs", "Search"]
