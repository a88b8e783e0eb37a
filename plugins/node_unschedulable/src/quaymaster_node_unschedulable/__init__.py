"""Keep pods off cordoned nodes."""

from quaymaster_node_unschedulable.node_unschedulable import NodeUnschedulable

__all__ = ["NodeUnschedulable"]
