"""Give nodes a rest whose kubelets refuse pods."""

from quaymaster_node_cool_down.args import NodeCoolDownArgs
from quaymaster_node_cool_down.node_cool_down import NodeCoolDown

__all__ = ["NodeCoolDown", "NodeCoolDownArgs"]
