"""NodeResourcesBalancedAllocation keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)


class TestContract(PluginContract):
    plugin = NodeResourcesBalancedAllocation
