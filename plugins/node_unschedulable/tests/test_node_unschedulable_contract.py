"""NodeUnschedulable fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_unschedulable import NodeUnschedulable


class TestContract(PluginContract):
    plugin = NodeUnschedulable
