"""NodeDeclaredFeatures keeps the contract of plugins."""

from quaymaster.testing import PluginContract
from quaymaster_node_declared_features import NodeDeclaredFeatures


class TestContract(PluginContract):
    plugin = NodeDeclaredFeatures
