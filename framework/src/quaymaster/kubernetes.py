"""A scheduler on a real cluster, for programs; the command is ``quaymaster run``."""

from quaymaster._surfaces.operation.live import ClusterLostError, KubernetesScheduler

__all__ = ["ClusterLostError", "KubernetesScheduler"]
