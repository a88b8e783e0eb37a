"""How evenly the resources of a node are in use, from 50 to 100.

Mirrors ``balancedResourceScore`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``) to the bit:
sums are taken one by one, in the order of the resources.
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

# Up to this many rows are worked out one by one. With none, a decision of
# ScalingKinds100 takes 1.22 times as long, with 4 and with 64 1.03 to 1.04 times.
_FEW: Final = 16


_MOST: Final = 3 * MAX_NODE_SCORE // 2


class Balanced:
    """Resources that play a part together.

    Args:
        resources: The resources.

    Attributes:
        resources: The same.
        block: The same as one.
        less_before: What is less by the balance of each node as it is.
    """

    __slots__ = ("block", "less_before", "resources")

    def __init__(self, resources: Sequence[ResourceColumn]) -> None:
        self.resources = resources
        self.block = ResourceBlock(resources)
        self.less_before = LessBalance(self)


@attrs.define(eq=False)  # not frozen, which is slower to make
class Demands:
    """What is requested of the ``K`` resources that play a part.

    Attributes:
        parts: What reads each of a node, and how much more of it is requested.
        balanced: The same resources, for many nodes.
        requests: Shape ``(K, 1)``, dtype int64: how much is requested.
    """

    parts: Sequence[tuple[ReadNode, int]]
    balanced: Balanced
    requests: Int64Array

    @classmethod
    def of(cls, balanced: Balanced, requests: Sequence[int]) -> "Demands":
        """Return the demands.

        Args:
            balanced: The resources.
            requests: How much is requested of each.
        """
        reads = [resource.read for resource in balanced.resources]
        column = np.array(requests, dtype=np.int64)[:, None]
        return cls(list(zip(reads, requests, strict=True)), balanced, column)


def balance_of(fractions: Sequence[float]) -> int:
    """Return the balance of one node: ``100 * (1 - deviation)`` without the decimals.

    Args:
        fractions: How much of each resource is in use, at most 1.
    """
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    else:
        deviation = _deviation(fractions)
    return int((1 - deviation) * MAX_NODE_SCORE)


def gain_of(before: Sequence[float], after: Sequence[float]) -> int:
    """Return how much greater the balance is with other fractions in use."""
    if len(after) == 2:  # as `balance_of`, in half of the time
        was = int((1 - abs((before[0] - before[1]) / 2)) * MAX_NODE_SCORE)
        return int((1 - abs((after[0] - after[1]) / 2)) * MAX_NODE_SCORE) - was
    return balance_of(after) - balance_of(before)


def balance_of_nodes(nodes: NodeTable, rows: Rows, demands: Demands) -> Int64Array:
    """Return the balance of many nodes with some more requests on each.

    Resources that a node has none of are left out.

    Returns:
        Shape ``(N,)``, in the order of ``rows``.
    """
    block = demands.balanced.block
    capacities = block.capacities(nodes)
    offered = block.offered(nodes, rows)
    used = block.used_with(demands.requests, nodes, rows)
    divisors = capacities.divisors_of(offered, rows)
    # Made floats first: of integers, minimum and division take far longer. A resource
    # that a node has none of is left out below, whatever its fraction is.
    fractions = used.astype(np.float64)
    fractions = np.minimum(fractions, divisors, out=fractions)
    fractions /= divisors
    if capacities.is_everywhere:
        return _balances(fractions)
    # Nodes that have the same resources, a bit for each, go together.
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
    """Keeps one and a half times the best score less the balance of each node.

    Half of the best score is added to half of a gain that may be negative: so it is
    added to the gain three times, before that is halved. It is updated where a row has
    changed.

    Args:
        balanced: The resources that play a part.
    """

    def __init__(self, balanced: Balanced) -> None:
        self._nothing = Demands.of(balanced, [0] * len(balanced.resources))
        self._column: Int64Array = np.empty(0, dtype=np.int64)
        self._nodes: NodeTable | None = None
        self._revision = 0

    def of(self, nodes: NodeTable) -> Int64Array:
        """Return them by row number; a row without a node has any number."""
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
        """Return the rows that have changed; None for all."""
        # Identity: which table it is. An imagined one has other rows that moved.
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
                whole = float(capacity)  # before the division, as upstream
                fractions.append(float(used) / whole if used < capacity else 1.0)
        return balance_of(fractions)


def _balances(fractions: Float64Array) -> Int64Array:
    """Return the balance of nodes that all have the same resources.

    Args:
        fractions: Shape ``(K, N)``: how much of each is in use.
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
