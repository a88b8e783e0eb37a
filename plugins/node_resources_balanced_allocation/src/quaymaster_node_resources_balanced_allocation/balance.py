"""Compute how evenly the resources of a node are used, from 50 to 100.

Mirrors ``balancedResourceScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``) to the last
bit: sums are added one by one, in the order of the resources.
"""

import math
from collections.abc import Collection, Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster import MAX_NODE_SCORE, Int64Array, NodeInfo, NodeTable, Rows
from quaymaster.columns import Float64Array, ReadNode, ResourceBlock, ResourceColumn

__all__ = [
    "Balanced",
    "Demands",
    "balance_of",
    "balance_of_nodes",
    "gain_of",
]

# Up to this many rows are computed one by one. With 0, a decision of
# ScalingKinds100 takes 1.22 times as long, with 4 and with 64 1.03 to 1.04 times.
_FEW: Final = 16


_MOST: Final = 3 * MAX_NODE_SCORE // 2


class Balanced:
    """Resources that are balanced together.

    Args:
        resources: The resources.

    Attributes:
        resources: The same.
        block: The same, as one block of columns.
        less_before: Caches 1.5 times the best score minus each node's balance.
    """

    __slots__ = ("block", "less_before", "resources")

    def __init__(self, resources: Sequence[ResourceColumn]) -> None:
        self.resources = resources
        self.block = ResourceBlock(resources)
        self.less_before = LessBalance(self)


@attrs.define(eq=False)  # not frozen, because frozen objects are created more slowly
class Demands:
    """A pod's requests for the ``K`` balanced resources.

    Attributes:
        parts: A reader for each resource of a node, and the request.
        balanced: The same resources, for many nodes.
        requests: Shape ``(K, 1)``, dtype int64: the requests.
        has_devices: Whether devices may serve one of them; columns lack these.
    """

    parts: Sequence[tuple[ReadNode, int]]
    balanced: Balanced
    requests: Int64Array
    has_devices: bool = False

    def read_devices(self, readers: Sequence[ReadNode | None]) -> None:
        """Let devices count on nodes that do not offer a resource themselves.

        Args:
            readers: For each resource its reader with devices, or None.
        """
        self.has_devices = any(readers)
        self.parts = [
            (reader or read, request)
            for reader, (read, request) in zip(readers, self.parts, strict=True)
        ]

    @classmethod
    def of(cls, balanced: Balanced, requests: Sequence[int]) -> "Demands":
        """Return the demands.

        Args:
            balanced: The resources.
            requests: The request for each.
        """
        reads = [resource.read for resource in balanced.resources]
        column = np.array(requests, dtype=np.int64)[:, None]
        return cls(list(zip(reads, requests, strict=True)), balanced, column)


def balance_of(fractions: Sequence[float]) -> int:
    """Return the balance of one node: ``100 * (1 - deviation)``, truncated.

    Args:
        fractions: The used fraction of each resource, at most 1.
    """
    if len(fractions) == 2:
        # For two values this is their standard deviation; upstream has the same special
        # case.
        deviation = abs((fractions[0] - fractions[1]) / 2)
    else:
        deviation = _deviation(fractions)
    return int((1 - deviation) * MAX_NODE_SCORE)


def gain_of(before: Sequence[float], after: Sequence[float]) -> int:
    """Return the gain of balance between two sets of fractions."""
    if len(after) == 2:  # like `balance_of`, in half of the time
        was = int((1 - abs((before[0] - before[1]) / 2)) * MAX_NODE_SCORE)
        return int((1 - abs((after[0] - after[1]) / 2)) * MAX_NODE_SCORE) - was
    return balance_of(after) - balance_of(before)


def balance_of_nodes(nodes: NodeTable, rows: Rows, demands: Demands) -> Int64Array:
    """Return the balance of many nodes with additional requests on each.

    Resources that a node does not offer are ignored.

    Returns:
        Shape ``(N,)``, in the order of ``rows``.
    """
    block = demands.balanced.block
    capacities = block.capacities(nodes)
    offered = block.offered(nodes, rows)
    used = block.used_with(demands.requests, nodes, rows)
    divisors = capacities.divisors_of(offered, rows)
    # Converted to floats first: minimum and division of integers take far longer. The
    # fraction of a resource that a node does not offer is ignored below.
    fractions = used.astype(np.float64)
    fractions = np.minimum(fractions, divisors, out=fractions)
    fractions /= divisors
    if capacities.is_everywhere:
        return _balances(fractions)
    # Nodes with the same set of resources, encoded as bits, are computed together.
    kinds = np.zeros(offered.shape[1], dtype=np.min_scalar_type(1 << len(offered)))
    for bit, amounts in enumerate(offered):
        kinds |= (amounts > 0).astype(kinds.dtype) * (1 << bit)
    balances: Int64Array = np.empty(kinds.shape, dtype=np.int64)
    for kind in np.unique(kinds).tolist():
        picked = np.flatnonzero(kinds == kind)
        lines = [bit for bit in range(len(offered)) if kind >> bit & 1]
        balances[picked] = _balances(fractions[lines][:, picked])
    return balances


class LessBalance:
    """Caches one and a half times the best score minus the balance of each node.

    The score is half of the best score plus half of a gain, which may be negative. The
    constants are added to the gain before it is halved. Only changed rows are updated.

    Args:
        balanced: The resources.
    """

    def __init__(self, balanced: Balanced) -> None:
        self._nothing = Demands.of(balanced, [0] * len(balanced.resources))
        self._column: Int64Array = np.empty(0, dtype=np.int64)
        self._nodes: NodeTable | None = None
        self._revision = 0

    def of(self, nodes: NodeTable) -> Int64Array:
        """Return the values by row; rows without a node have arbitrary values."""
        changed = self._changed(nodes)
        if changed is None or len(changed) > _FEW:
            rows = nodes.rows
            self._column = np.zeros(nodes.capacity, dtype=np.int64)
            self._column[rows] = _MOST - balance_of_nodes(nodes, rows, self._nothing)
        else:
            for row in changed:
                self._column[row] = _MOST - self._balance(nodes.infos[row])
        self._nodes, self._revision = nodes, nodes.changes.revision
        return self._column

    def _changed(self, nodes: NodeTable) -> Collection[int] | None:
        """Return the rows that have changed, or None for all."""
        # Identity: a hypothetical copy of the table has other changed rows.
        if nodes is self._nodes and nodes.capacity == len(self._column):
            return nodes.changes.since(self._revision)
        return None

    def _balance(self, node: NodeInfo | None) -> int:
        if node is None:
            return 0
        fractions = []
        for read, _ in self._nothing.parts:
            capacity, used = read(node)
            if capacity:
                whole = float(capacity)  # before the division, as in upstream
                fractions.append(float(used) / whole if used < capacity else 1.0)
        return balance_of(fractions)


def _balances(fractions: Float64Array) -> Int64Array:
    """Return the balance of nodes with the same set of resources.

    Args:
        fractions: Shape ``(K, N)``: the used fractions.
    """
    if len(fractions) < 2:
        return np.full(fractions.shape[1], MAX_NODE_SCORE, dtype=np.int64)
    balance = _deviations(fractions)
    np.subtract(1.0, balance, out=balance)
    balance *= float(MAX_NODE_SCORE)
    return balance.astype(np.int64)


def _deviation(fractions: Sequence[float]) -> float:
    if len(fractions) < 2:
        return 0.0
    total = squares = 0.0
    for fraction in fractions:
        total += fraction
    mean = total / len(fractions)
    # Added up in the order of the resources and not by `sum` or numpy's pairwise sums,
    # since the last bit decides where a score is truncated.
    for fraction in fractions:
        squares += (fraction - mean) * (fraction - mean)
    return math.sqrt(squares / len(fractions))


def _deviations(fractions: Float64Array) -> Float64Array:
    if len(fractions) == 2:
        difference: Float64Array = fractions[0] - fractions[1]
        difference *= 0.5
        return np.abs(difference, out=difference)
    total = squares = np.zeros_like(fractions[0])
    for fraction in fractions:
        total = total + fraction
    mean = total / len(fractions)
    for fraction in fractions:
        squares = squares + (fraction - mean) * (fraction - mean)
    deviations: Float64Array = np.sqrt(squares / len(fractions))
    return deviations
