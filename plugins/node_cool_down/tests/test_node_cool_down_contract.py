"""NodeCoolDown fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_cool_down import NodeCoolDown


class TestContract(PluginContract):
    plugin = NodeCoolDown
