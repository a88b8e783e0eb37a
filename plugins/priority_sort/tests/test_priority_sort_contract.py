"""PrioritySort fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_priority_sort import PrioritySort


class TestContract(PluginContract):
    plugin = PrioritySort
