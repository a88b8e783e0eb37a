"""The shares of resources that strategies score: the usage of a node with the pod.

Mirrors ``resourceAllocationScorer`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``) as Fit uses
it: CPU and memory count with defaults for containers that request none. A resource is
ignored on nodes that do not offer it. A scalar resource is ignored on all nodes if the
pod does not request it.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

import attrs
import msgspec
import numpy as np

from quaymaster import Int64Array, NodeInfo, NodeTable, Rows
from quaymaster.columns import (
    Capacities,
    Float64Array,
    Int32Array,
    ReadNode,
    ResourceBlock,
    ResourceColumn,
)
from quaymaster.devices import ServedResources
from quaymaster.objects import Resources
from quaymaster_node_resources_fit.args import ResourceSpec

__all__ = [
    "Demands",
    "ScoredResources",
    "Share",
    "ShareColumns",
    "share_columns",
    "shares_of",
]

Share: TypeAlias = tuple[int, int, int]
"""A resource of one node: its weight, its usage with the pod (at most the capacity),
and its capacity (more than 0)."""


class _Counted(msgspec.Struct, frozen=True, eq=False):
    """Resources that are scored together.

    Attributes:
        block: The ``K`` resources.
        weights: Shape ``(K, 1)``: their weights, without a common divisor.
        total: Their sum.
    """

    block: ResourceBlock
    weights: Int32Array
    total: int


@attrs.define(eq=False)  # not frozen, which is slower to make
class Demands:
    """A pod's requests for the scored resources.

    Attributes:
        parts: The weight of each, its reader for a node, and the request.
        counted: The same resources, for many nodes.
        requests: Shape ``(K, 1)``, dtype int64: the requests.
        has_devices: Whether devices may serve one of them; columns lack these.
    """

    parts: Sequence[tuple[int, ReadNode, int]]
    counted: _Counted
    requests: Int64Array
    has_devices: bool = False


@attrs.define(eq=False)  # not frozen, which is slower to make
class ShareColumns:
    """The ``K`` resources of ``N`` nodes.

    Attributes:
        counted: The resources.
        used: Shape ``(K, N)``: the usage with the pod; may exceed the capacity.
        capacity: Shape ``(K, N)``: the capacity; with 0, the resource is ignored.
        capacities: The same for all nodes, prepared for divisions.
        rows: The rows of these nodes.
    """

    counted: _Counted
    used: Int64Array
    capacity: Int64Array
    capacities: Capacities
    rows: Rows

    def percent_used(self) -> Int32Array:
        """Return the used percentage, shape ``(K, N)``; 0 for ignored resources."""
        if self.capacities.is_exact:
            used = self.used.astype(np.float64)
            return self._percent_of(np.minimum(used, self.capacity, out=used))
        return self._exactly(np.minimum(self.used, self.capacity))

    def percent_left(self) -> Int32Array:
        """Return the free percentage, shape ``(K, N)``; 0 for ignored resources."""
        left = self.capacity - self.used
        if self.capacities.is_exact:
            # Floats take a fifth of the time.
            part = left.astype(np.float64)
            return self._percent_of(np.maximum(part, 0.0, out=part))
        return self._exactly(np.maximum(left, 0, out=left))

    def weights(self) -> Int32Array:
        """The weights, shape ``(K, 1)``, or ``(K, N)`` if some nodes ignore resources.

        They have no common divisor.
        """
        weights = self.counted.weights
        if self.capacities.is_everywhere:
            return weights
        return np.where(self.capacity > 0, weights, np.int32(0))

    def weighted_mean(self, scores: Int32Array) -> Int64Array:
        """Return the weighted mean of each node, truncated.

        Args:
            scores: Shape ``(K, N)``; 0 for ignored resources.

        Returns:
            Shape ``(N,)``; 0 for nodes without resources.
        """
        total: Int64Array
        weights = self.weights()
        if not self.capacities.is_everywhere:
            total = np.add.reduce(weights * scores, axis=0, dtype=np.int64)
            total //= np.maximum(np.add.reduce(weights, axis=0), 1)
            return total
        if self.counted.total != len(scores):  # otherwise all weights are 1
            scores = weights * scores
        # Row by row, in the small type: two thirds of the time of a reduction.
        mean: Int32Array = scores[0] + (scores[1] if len(scores) > 1 else 0)
        for line in scores[2:]:
            mean += line
        mean //= self.counted.total
        total = mean.astype(np.int64)
        return total

    def _percent_of(self, part: Float64Array) -> Int32Array:
        """Return ``100 * part // capacity``, for a part of at most the capacity.

        Args:
            part: The array, which is modified.
        """
        part *= 100.0
        part /= self.capacities.divisors_of(self.capacity, self.rows)
        return part.astype(np.int32)

    def _exactly(self, part: Int64Array) -> Int32Array:
        """Return the same for amounts of any size, more slowly."""
        quotient = part.astype(object) * 100 // np.maximum(self.capacity, 1)
        return quotient.astype(np.int32)


class ScoredResources:
    """The resources that a profile scores.

    Args:
        specs: Their names and weights.
        devices: The resources that devices may serve.
    """

    def __init__(self, specs: Sequence[ResourceSpec], devices: ServedResources) -> None:
        self._devices = devices
        self._parts = [
            (spec.weight, ResourceColumn(spec.name, non_zero=True)) for spec in specs
        ]
        self._counted: dict[tuple[bool, ...], _Counted] = {}

    def demands(self, requests: Resources) -> Demands:
        """Return a pod's requests for the scored resources."""
        requested = [resource.request(requests) for _, resource in self._parts]
        counts = tuple(
            [
                resource.counts(request)
                for (_, resource), request in zip(self._parts, requested, strict=True)
            ]
        )
        picked = list(itertools.compress(self._parts, counts))
        amounts = list(itertools.compress(requested, counts))
        counted = self._counted.get(counts)
        if counted is None:
            counted = self._counted[counts] = _counting(picked)
        parts = [
            (weight, resource.read, amount)
            for (weight, resource), amount in zip(picked, amounts, strict=True)
        ]
        column = np.array(amounts, dtype=np.int64)[:, None]
        demands = Demands(parts, counted, column)
        if self._devices.names:
            self._add_devices(demands, [resource.name for _, resource in picked])
        return demands

    def _add_devices(self, demands: Demands, names: Sequence[str]) -> None:
        """Let devices count on nodes that do not offer a resource themselves."""
        readers = [self._devices.reader(name) for name in names]
        demands.has_devices = any(readers)
        demands.parts = [
            (weight, reader or read, amount)
            for reader, (weight, read, amount) in zip(
                readers, demands.parts, strict=True
            )
        ]


def _counting(parts: Sequence[tuple[int, ResourceColumn]]) -> _Counted:
    given = [weight for weight, _ in parts]
    # Common factors cancel out of a weighted mean, and without them the sums stay
    # within 32 bits.
    weights = np.array(given, dtype=np.int32) // max(1, math.gcd(*given))
    block = ResourceBlock([resource for _, resource in parts])
    return _Counted(block, weights[:, None], int(weights.sum()))


def shares_of(node: NodeInfo, demands: Demands) -> list[Share]:
    """Return the shares of one node.

    Args:
        node: The node with its pods.
        demands: The pod's requests.
    """
    shares = []
    for weight, read, request in demands.parts:
        capacity, taken = read(node)
        if capacity:
            used = taken + request
            shares.append((weight, min(used, capacity), capacity))
    return shares


def share_columns(nodes: NodeTable, rows: Rows, demands: Demands) -> ShareColumns:
    """Return the shares of many nodes; at least one resource is scored."""
    counted = demands.counted
    capacities = counted.block.capacities(nodes)
    offered = counted.block.offered(nodes, rows)
    used = counted.block.used_with(demands.requests, nodes, rows)
    return ShareColumns(counted, used, offered, capacities, rows)
