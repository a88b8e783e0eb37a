"""The shares of resources that strategies score: what a node would have in use.

Mirrors ``resourceAllocationScorer`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``) as Fit uses
it: CPU and memory count with defaults for containers that request none. A resource is
left out where a node has none of it, and everywhere if it is counted by its name and
the pod requests none of it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import attrs
import numpy as np

from quaymaster import Int64Array, NodeInfo, NodeTable, Rows
from quaymaster.columns import Capacity, Int32Array, ResourceColumn
from quaymaster.objects import Resources
from quaymaster_node_resources_fit.args import ResourceSpec

__all__ = [
    "Demand",
    "ScoredResources",
    "Share",
    "ShareColumn",
    "share_columns",
    "shares_of",
    "weighted_means",
]

Demand: TypeAlias = tuple[int, ResourceColumn, int]
"""A resource that counts: its weight, its column, and how much the pod requests."""

Share: TypeAlias = tuple[int, int, int]
"""A resource of one node: its weight, what would be in use (at most the capacity), and
the capacity (more than 0)."""


@attrs.define(eq=False)
class ShareColumn:
    """A resource of many nodes.

    Attributes:
        weight: How much it counts beside the others.
        used: Shape ``(N,)``: what would be in use; at most the capacity.
        capacity: Shape ``(N,)``: where it is 0, the resource does not count.
        offered: The same for all nodes, prepared for divisions.
        rows: The rows of these nodes.
    """

    weight: int
    used: Int64Array
    capacity: Int64Array
    offered: Capacity
    rows: Rows

    def percent(self, part: Int64Array) -> Int32Array:
        """Return ``100 * part // capacity``, shape ``(N,)``; 0 where the capacity is 0.

        Args:
            part: Shape ``(N,)``, from 0 to the capacity.
        """
        if self.offered.is_exact:
            ratio = part * 100.0
            ratio /= self.offered.divisors[self.rows]
            return ratio.astype(np.int32)
        # Slow, and right for amounts of any size.
        quotient = part.astype(object) * 100 // np.maximum(self.capacity, 1)
        return quotient.astype(np.int32)

    def weights(self) -> int | Int32Array:
        """The weight on each node: 0 where the resource does not count."""
        if self.offered.is_everywhere:
            return self.weight
        return np.where(self.capacity > 0, np.int32(self.weight), np.int32(0))


class ScoredResources:
    """The resources that a profile scores.

    Args:
        specs: Their names and weights.
    """

    def __init__(self, specs: Sequence[ResourceSpec]) -> None:
        self._parts = [
            (spec.weight, ResourceColumn(spec.name, non_zero=True)) for spec in specs
        ]

    def demands(self, requests: Resources) -> tuple[Demand, ...]:
        """Return what a pod requests of each resource that is scored for it."""
        demands = [
            (weight, resource, resource.request(requests))
            for weight, resource in self._parts
        ]
        return tuple([demand for demand in demands if demand[1].counts(demand[2])])


def shares_of(node: NodeInfo, demands: Sequence[Demand]) -> list[Share]:
    """Return the shares of one node.

    Args:
        node: The node with its pods.
        demands: What the pod requests.
    """
    shares = []
    for weight, resource, request in demands:
        capacity, taken = resource.read(node)
        if capacity:
            used = taken + request
            shares.append((weight, min(used, capacity), capacity))
    return shares


def share_columns(
    nodes: NodeTable, rows: Rows, demands: Sequence[Demand]
) -> list[ShareColumn]:
    """Return the shares of many nodes, without resources that no node has."""
    columns = []
    for weight, resource, request in demands:
        offered = resource.capacity(nodes)
        if offered is not None:
            capacity = offered.amounts[rows]
            used = resource.usage(nodes, rows) + request
            np.minimum(used, capacity, out=used)
            columns.append(ShareColumn(weight, used, capacity, offered, rows))
    return columns


def weighted_means(
    shares: Sequence[ShareColumn], scores: Sequence[Int32Array]
) -> Int64Array:
    """Return the weighted means of scores, without the decimals; 0 without resources.

    Args:
        shares: The resources; at least one.
        scores: The score of each, shape ``(N,)``; 0 where the resource does not count.
    """
    total: Int32Array = np.zeros(scores[0].shape, dtype=np.int32)
    weights: Int32Array | int = 0
    for share, score in zip(shares, scores, strict=True):
        total += share.weight * score
        weights = weights + share.weights()
    if not isinstance(weights, int):
        weights = np.maximum(weights, 1)
    return (total // weights).astype(np.int64)
