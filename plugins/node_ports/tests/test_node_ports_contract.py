"""NodePorts keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_node_ports import NodePorts


class TestContract(PluginContract):
    plugin = NodePorts
