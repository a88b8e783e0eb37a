"""NodeResourcesBalancedAllocation fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)


class TestContract(PluginContract):
    plugin = NodeResourcesBalancedAllocation
