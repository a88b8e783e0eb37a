"""Keep a pod off nodes where its host ports are taken."""

from quaymaster_node_ports.node_ports import NodePorts

__all__ = ["NodePorts"]
