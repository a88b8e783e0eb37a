"""Keep a pod off nodes where its host ports are in use."""

from quaymaster_node_ports.node_ports import NodePorts

__all__ = ["NodePorts"]
