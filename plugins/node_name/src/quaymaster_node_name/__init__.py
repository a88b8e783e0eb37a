"""Allow only the node that the pod names."""

from quaymaster_node_name.node_name import NodeName

__all__ = ["NodeName"]
