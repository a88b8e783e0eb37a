"""DefaultPreemption fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_default_preemption import DefaultPreemption


class TestContract(PluginContract):
    plugin = DefaultPreemption
