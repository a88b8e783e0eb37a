"""NodeVolumeLimits fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_volume_limits import NodeVolumeLimits


class TestContract(PluginContract):
    plugin = NodeVolumeLimits
