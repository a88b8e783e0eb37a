"""DynamicResources fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_dynamic_resources import DynamicResources


class TestContract(PluginContract):
    plugin = DynamicResources
