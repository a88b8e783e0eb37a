"""GangScheduling fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_gang_scheduling import GangScheduling


class TestContract(PluginContract):
    plugin = GangScheduling
