"""Match a pod's node selector and node affinity against labels.

Mirrors ``NodeAffinity`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go``).
"""

from quaymaster_node_affinity.args import NodeAffinityArgs
from quaymaster_node_affinity.node_affinity import NodeAffinity

__all__ = ["NodeAffinity", "NodeAffinityArgs"]
