"""Columns of resources: the capacity of nodes, and its usage.

This is for plugins that score nodes by resources: CPU, memory, ephemeral storage and
extended resources, but not the number of pods.
Mirrors ``calculateResourceAllocatableRequest`` (Kubernetes v1.36,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``).
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Final, TypeAlias, cast

import numpy as np

from quaymaster._api.objects.resource_names import is_scalar_resource
from quaymaster._api.objects.resources import Resources
from quaymaster._core.state.arrays import Float64Array, Int64Array, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY

__all__ = ["Capacity", "ReadNode", "ResourceColumn"]

ReadNode: TypeAlias = Callable[[NodeInfo], tuple[int, int]]
"""Returns the capacity of a node for a resource, and its usage."""

_FIELDS: Final = {
    "cpu": "milli_cpu",
    "memory": "memory",
    "ephemeral-storage": "ephemeral_storage",
}
_ROWS: Final = {
    "cpu": CPU,
    "memory": MEMORY,
    "ephemeral-storage": EPHEMERAL_STORAGE,
}
_NON_ZERO: Final = ("cpu", "memory")

_LARGEST_EXACT: Final = 2**53 // 101
"""100 * a / b in float64 truncates to the exact integer for 0 <= a <= b up to this."""


class Capacity:
    """The amounts of one resource on all nodes, prepared for divisions.

    ``C`` is the number of rows that the table has room for.

    Attributes:
        amounts: Shape ``(C,)``, dtype int64.
        divisors: Shape ``(C,)``, dtype float64: the amounts, with 1 instead of 0.
        is_everywhere: Whether every node offers some.
        is_exact: Whether ``100 * amount / divisors`` truncates to the exact integer
            quotient for every amount from 0 to the capacity: up to 81 TiB.
    """

    __slots__ = ("amounts", "divisors", "is_everywhere", "is_exact")

    def __init__(self, amounts: Int64Array, rows: Rows) -> None:
        offered = amounts[rows]
        self.amounts = amounts
        # At least 1, so that nodes without the resource do not divide by zero; what
        # they get is replaced afterwards.
        self.divisors: Float64Array = np.maximum(amounts, 1).astype(np.float64)
        self.is_everywhere = bool(offered.all())
        self.is_exact = bool(offered.max(initial=0) <= _LARGEST_EXACT)


class ResourceColumn:
    """Reads the capacity and the usage of one resource.

    Args:
        name: The resource.
        non_zero: Whether containers that request no CPU or memory count with the
            defaults; other resources have no defaults.

    Attributes:
        name: The resource.
        counts_defaults: Whether it has defaults, and they count.
        read: Returns the capacity of a node, and its usage.
    """

    __slots__ = (
        "_capacity",
        "_is_scalar",
        "_nodes",
        "_revision",
        "counts_defaults",
        "name",
        "read",
    )

    def __init__(self, name: str, *, non_zero: bool = False) -> None:
        self.name = name
        self.read: ReadNode = _reader(name, non_zero)
        self._is_scalar = is_scalar_resource(name)
        self.counts_defaults = non_zero and name in _NON_ZERO
        self._capacity: Capacity | None = None
        self._nodes: NodeTable | None = None
        self._revision = -1

    def request(self, requests: Resources) -> int:
        """Return how much of the resource is requested."""
        return 0 if self.name == "pods" else requests.get(self.name)

    def counts(self, request: int) -> bool:
        """Whether this resource takes part in the score of a pod.

        A scalar resource (one counted by its name) does only if the pod requests it.

        Args:
            request: How much the pod requests.
        """
        return request != 0 or not self._is_scalar

    def capacity(self, nodes: NodeTable) -> Capacity | None:
        """Return the amounts of all nodes; None if no node offers any.

        It is the same object until a node is added, removed or changed itself.
        """
        # Identity: another table has other nodes, and revisions of its own.
        revision = nodes.node_changes.revision
        if nodes is not self._nodes or revision != self._revision:
            self._nodes, self._revision = nodes, revision
            self._capacity = self._measured(nodes)
        return self._capacity

    def usage(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """Return the usage of each node; call it only if there is a `capacity`.

        Returns:
            Shape ``(N,)``, dtype int64, in the order of ``rows``. Do not write to it.
        """
        row = self._row(nodes) or 0
        column = nodes.non_zero_requested if self.counts_defaults else nodes.requested
        usage: Int64Array = column[row][rows]
        return usage

    def _row(self, nodes: NodeTable) -> int | None:
        row = _ROWS.get(self.name)
        return nodes.resource(self.name) if row is None else row

    def _measured(self, nodes: NodeTable) -> Capacity | None:
        row = self._row(nodes)
        if row is None or not nodes.allocatable[row][nodes.rows].any():
            return None
        return Capacity(nodes.allocatable[row], nodes.rows)


def _reader(name: str, non_zero: bool) -> ReadNode:
    field = _FIELDS.get(name)
    if field is None:
        return lambda node: (
            node.allocatable.scalars.get(name, 0),
            node.requested.scalars.get(name, 0),
        )
    taken = f"requested.{field}"
    if non_zero and name in _NON_ZERO:
        taken = f"non_zero_{field}"
    return cast(ReadNode, attrgetter(f"allocatable.{field}", taken))
