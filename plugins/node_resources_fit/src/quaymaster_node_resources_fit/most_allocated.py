"""Prefer the nodes with the least free resources.

Mirrors ``most_allocated.go`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources``).
"""

from quaymaster import MAX_NODE_SCORE, Int64Array, NodeInfo
from quaymaster_node_resources_fit.shares import Demands, ShareColumns, shares_of

__all__ = ["MostAllocated"]


class MostAllocated:
    """Scores each resource with the used percentage."""

    def score(self, node: NodeInfo, demands: Demands) -> int:
        """Return the weighted mean for one node, or 0 without resources."""
        total = weights = 0
        for weight, used, capacity in shares_of(node, demands):
            total += weight * (used * MAX_NODE_SCORE // capacity)
            weights += weight
        return total // weights if weights else 0

    def score_nodes(self, shares: ShareColumns) -> Int64Array:
        """Return the scores of many nodes."""
        return shares.weighted_mean(shares.percent_used())
