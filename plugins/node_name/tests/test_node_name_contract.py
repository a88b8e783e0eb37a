"""NodeName fulfils the plugin contract."""

from typing import ClassVar

from quaymaster.testing import PluginContract
from quaymaster_node_name import NodeName


class TestContract(PluginContract):
    plugin = NodeName
    opt_outs: ClassVar[dict[str, str]] = {
        "effects": "a pod that names its node is not pending, so no cluster has one"
    }
