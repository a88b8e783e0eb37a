"""Keep a pod off nodes that cannot attach more volumes."""

from quaymaster_node_volume_limits.node_volume_limits import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
