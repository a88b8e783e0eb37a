"""Keep pods off nodes whose kubelets have rejected pods."""

from quaymaster_node_cool_down.args import NodeCoolDownArgs
from quaymaster_node_cool_down.node_cool_down import NodeCoolDown

__all__ = ["NodeCoolDown", "NodeCoolDownArgs"]
