"""TopologyPlacementGenerator fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_topology_placement_generator import TopologyPlacementGenerator


class TestContract(PluginContract):
    plugin = TopologyPlacementGenerator
