"""PrioritySort keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_priority_sort import PrioritySort


class TestContract(PluginContract):
    plugin = PrioritySort
