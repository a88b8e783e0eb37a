"""NodePorts fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_ports import NodePorts


class TestContract(PluginContract):
    plugin = NodePorts
