"""SchedulingGates keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_scheduling_gates import SchedulingGates


class TestContract(PluginContract):
    plugin = SchedulingGates
