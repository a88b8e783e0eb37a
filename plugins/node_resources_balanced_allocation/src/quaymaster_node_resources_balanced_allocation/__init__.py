"""Prefer nodes whose resources are used evenly with the pod.

Mirrors ``NodeResourcesBalancedAllocation`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``).
"""

from quaymaster_node_resources_balanced_allocation.args import (
    NodeResourcesBalancedAllocationArgs,
    ResourceSpec,
)
from quaymaster_node_resources_balanced_allocation.balanced_allocation import (
    NodeResourcesBalancedAllocation,
)

__all__ = [
    "NodeResourcesBalancedAllocation",
    "NodeResourcesBalancedAllocationArgs",
    "ResourceSpec",
]
