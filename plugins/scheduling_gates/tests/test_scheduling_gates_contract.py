"""SchedulingGates fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_scheduling_gates import SchedulingGates


class TestContract(PluginContract):
    plugin = SchedulingGates
