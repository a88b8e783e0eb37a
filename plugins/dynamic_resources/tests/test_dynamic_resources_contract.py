"""DynamicResources keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_dynamic_resources import DynamicResources


class TestContract(PluginContract):
    plugin = DynamicResources
