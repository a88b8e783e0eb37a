"""TaintToleration keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_taint_toleration import TaintToleration


class TestContract(PluginContract):
    plugin = TaintToleration
