"""NodeUnschedulable keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_node_unschedulable import NodeUnschedulable


class TestContract(PluginContract):
    plugin = NodeUnschedulable
