"""NodeVolumeLimits keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_node_volume_limits import NodeVolumeLimits


class TestContract(PluginContract):
    plugin = NodeVolumeLimits
