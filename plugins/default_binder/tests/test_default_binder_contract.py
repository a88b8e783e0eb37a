"""DefaultBinder fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_default_binder import DefaultBinder


class TestContract(PluginContract):
    plugin = DefaultBinder
