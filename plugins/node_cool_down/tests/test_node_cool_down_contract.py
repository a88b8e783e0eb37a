"""NodeCoolDown fulfils the plugin contract."""

from quaymaster import Handle
from quaymaster.testing import PluginContract
from quaymaster_node_cool_down import NodeCoolDown, NodeCoolDownArgs


class Cooling(NodeCoolDown):
    """The kubelet of one node has rejected a pod before."""

    def __init__(self, args: NodeCoolDownArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._cooling = frozenset({"n0"})


class TestContract(PluginContract):
    plugin = Cooling
