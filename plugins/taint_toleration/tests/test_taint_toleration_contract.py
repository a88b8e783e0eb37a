"""TaintToleration fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_taint_toleration import TaintToleration


class TestContract(PluginContract):
    plugin = TaintToleration
