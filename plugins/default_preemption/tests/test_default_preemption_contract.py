"""DefaultPreemption keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_default_preemption import DefaultPreemption


class TestContract(PluginContract):
    plugin = DefaultPreemption
