"""A scheduler on a real cluster, for programs; the command is ``quaymaster run``."""

from quaymaster._operation.live import ClusterLostError, KubernetesScheduler

__all__ = ["ClusterLostError", "KubernetesScheduler"]
