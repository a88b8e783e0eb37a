"""NodeName fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_name import NodeName


class TestContract(PluginContract):
    plugin = NodeName
