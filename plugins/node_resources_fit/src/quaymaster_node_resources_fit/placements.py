"""Score a placement of a group of pods: prefer the fullest.

Mirrors ``scorePlacement`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``). As upstream,
it counts no devices: a resource counts on the nodes that offer it themselves.
"""

import numpy as np

from quaymaster import MAX_NODE_SCORE, NodeTable
from quaymaster.hookspecs import PodGroupAssignments
from quaymaster.objects import Resources, score_requests
from quaymaster_node_resources_fit.shares import ScoredResources

__all__ = ["placement_score"]


def placement_score(
    resources: ScoredResources, nodes: NodeTable, assignments: PodGroupAssignments
) -> int:
    """Return the weighted mean of the used percentage of each resource.

    Args:
        resources: The resources that are scored.
        nodes: The columns of all nodes, without the pods of the group.
        assignments: The placement, and the pods of the group that would get a node.
    """
    requests = Resources()
    for attempt in assignments.attempts:
        requests.add(score_requests(attempt.pod))
    demands = resources.demands(requests)
    if not demands.parts:
        return 0
    rows, block = assignments.placement.rows, demands.counted.block
    offered = block.offered(nodes, rows)
    used = block.used_with(np.zeros_like(demands.requests), nodes, rows)
    # A resource that a node does not offer does not count there, even if it is used.
    used[offered == 0] = 0
    capacities = offered.sum(axis=1).tolist()
    totals = (used.sum(axis=1) + demands.requests[:, 0]).tolist()
    score = weights = 0
    for (weight, _, _), total, capacity in zip(
        demands.parts, totals, capacities, strict=True
    ):
        if capacity:
            score += weight * (min(total, capacity) * MAX_NODE_SCORE // capacity)
            weights += weight
    return score // weights if weights else 0
