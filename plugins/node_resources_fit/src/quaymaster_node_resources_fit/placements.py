"""Score a placement of a group of pods: prefer the fullest.

Mirrors ``scorePlacement`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``). As upstream,
it counts no devices: a resource counts on the nodes that offer it themselves.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster import MAX_NODE_SCORE, Int64Array, NodeTable
from quaymaster.hookspecs import PodGroupAssignments
from quaymaster.objects import Resources, score_requests
from quaymaster_node_resources_fit.shares import Demands, ScoredResources

__all__ = ["placement_score", "placement_scores"]

_LARGEST: Final = np.iinfo(np.int64).max // MAX_NODE_SCORE
"""Larger amounts are multiplied as Python's integers."""


def placement_score(
    resources: ScoredResources, nodes: NodeTable, assignments: PodGroupAssignments
) -> int:
    """Return the weighted mean of the used percentage of each resource.

    Args:
        resources: The resources that are scored.
        nodes: The columns of all nodes, without the pods of the group.
        assignments: The placement, and the pods of the group that would get a node.
    """
    demands = _demands(resources, assignments)
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


def placement_scores(
    resources: ScoredResources,
    nodes: NodeTable,
    candidates: Sequence[PodGroupAssignments],
) -> Int64Array:
    """Return the scores of many placements, shape ``(len(candidates),)``.

    Args:
        resources: See `placement_score`.
        nodes: See `placement_score`.
        candidates: The placements, with the pods that would get a node in each.
    """
    scores: Int64Array = np.zeros(len(candidates), dtype=np.int64)
    demands_of = [_demands(resources, candidate) for candidate in candidates]
    # Resources that only some pods request differ from placement to placement.
    places_of: dict[int, list[int]] = {}
    for place, demands in enumerate(demands_of):
        if demands.parts:
            places_of.setdefault(id(demands.counted), []).append(place)
    for places in places_of.values():
        same = [demands_of[place] for place in places]
        scores[places] = _means(same, nodes, [candidates[place] for place in places])
    return scores


def _demands(resources: ScoredResources, assignments: PodGroupAssignments) -> Demands:
    """Return the demands of all pods of a group that would get a node."""
    requests = Resources()
    for attempt in assignments.attempts:
        requests.add(score_requests(attempt.pod))
    return resources.demands(requests)


def _means(
    demands: Sequence[Demands],
    nodes: NodeTable,
    candidates: Sequence[PodGroupAssignments],
) -> Int64Array:
    """Return the scores of placements whose demands are for the same resources."""
    block = demands[0].counted.block
    rows_of = [nodes.row_numbers(candidate.placement.rows) for candidate in candidates]
    ends = np.cumsum([len(rows) for rows in rows_of])
    rows = np.concatenate(rows_of)
    offered = block.offered(nodes, rows)
    used = block.used_with(np.zeros_like(demands[0].requests), nodes, rows)
    used[offered == 0] = 0
    requests = np.concatenate([demand.requests for demand in demands], axis=1)
    capacities, totals = _sums(offered, ends), _sums(used, ends) + requests
    parts = demands[0].parts
    weights = np.array([weight for weight, _, _ in parts], dtype=np.int64)[:, None]
    # Capacities and usage are summed over the nodes of the placement first. The mean of
    # the nodes' percentages would be another number.
    shares = _percentages(np.minimum(totals, capacities), capacities)
    counted = np.where(capacities > 0, weights, 0)
    means: Int64Array = (shares * counted).sum(axis=0)
    means //= np.maximum(counted.sum(axis=0), 1)
    return means


def _percentages(amounts: Int64Array, capacities: Int64Array) -> Int64Array:
    """Return the percentages of capacities, rounded down; 0 where there is none."""
    divisors = np.maximum(capacities, 1)
    if capacities.max(initial=0) > _LARGEST:
        exact = amounts.astype(object) * MAX_NODE_SCORE // divisors
        return exact.astype(np.int64)
    percentages: Int64Array = amounts * MAX_NODE_SCORE // divisors
    return percentages


def _sums(columns: Int64Array, ends: Int64Array) -> Int64Array:
    """Return the sums of stretches of columns; a stretch may be empty."""
    sums = np.zeros((len(columns), columns.shape[1] + 1), dtype=np.int64)
    np.cumsum(columns, axis=1, out=sums[:, 1:])
    before = np.concatenate(([0], ends[:-1]))
    stretches: Int64Array = sums[:, ends] - sums[:, before]
    return stretches
