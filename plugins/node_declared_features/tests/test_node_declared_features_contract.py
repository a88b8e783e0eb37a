"""NodeDeclaredFeatures fulfils the plugin contract."""

from quaymaster.testing import PluginContract
from quaymaster_node_declared_features import NodeDeclaredFeatures


class TestContract(PluginContract):
    plugin = NodeDeclaredFeatures
