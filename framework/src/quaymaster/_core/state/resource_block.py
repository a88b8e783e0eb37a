"""Several resources of many nodes in one pass: arrays with a line per resource."""

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster._core.state.allocation import ResourceColumn
from quaymaster._core.state.arrays import Float64Array, Int64Array, Rows
from quaymaster._core.state.lines import lines_at
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Capacities", "ResourceBlock"]

_LEADING: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources with the first lines in the columns of a table."""


@attrs.frozen(eq=False)
class Capacities:
    """The amounts of some resources on all nodes, prepared for divisions.

    ``K`` is the number of resources, ``C`` the number of rows that there is room for.

    Attributes:
        amounts: Shape ``(K, C)``, dtype int64.
        divisors: Shape ``(K, C)``, dtype float64: the amounts, with 1 instead of 0.
        is_everywhere: Whether every node offers some of each resource.
        is_exact: As in `Capacity`, for all resources.
    """

    amounts: Int64Array
    divisors: Float64Array
    is_everywhere: bool
    is_exact: bool

    def divisors_of(self, amounts: Int64Array, rows: Rows) -> Float64Array:
        """Return the divisors of some nodes, shape ``(K, N)``. Do not write to it.

        Args:
            amounts: The amounts of these nodes, from `ResourceBlock.offered`.
            rows: Their rows.
        """
        if isinstance(rows, slice):
            return self.divisors[:, rows]
        # Reading the column of divisors would take 1.5 times as long.
        if not self.is_everywhere:
            amounts = np.maximum(amounts, 1)
        return amounts.astype(np.float64)


class ResourceBlock:
    """Reads capacities and usage of several resources as one array.

    For some hundred nodes, NumPy takes hardly longer for two resources than for one;
    for a thousand nodes, it takes 1.5 times as long.

    Args:
        resources: The resources.
    """

    __slots__ = (
        "_capacities",
        "_counts_defaults",
        "_lines",
        "_nodes",
        "_resources",
        "_revision",
    )

    def __init__(self, resources: Sequence[ResourceColumn]) -> None:
        self._resources = tuple(resources)
        # None: the lines of the block are not the first lines of an array of the table.
        self._counts_defaults = _shared_defaults(resources)
        self._lines = slice(0, len(self._resources))
        self._capacities: Capacities | None = None
        self._nodes: NodeTable | None = None
        self._revision = -1

    def capacities(self, nodes: NodeTable) -> Capacities:
        """Return the capacities of all nodes.

        It is the same object until a node is added, removed or changed itself.
        """
        # Identity: another table has other nodes, and revisions of its own.
        revision = nodes.node_changes.revision
        cached = self._capacities
        if cached is None or nodes is not self._nodes or revision != self._revision:
            cached = self._capacities = _measured(self._resources, nodes)
            self._nodes, self._revision = nodes, revision
        return cached

    def offered(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        """Return the amounts of some nodes, shape ``(K, N)``. Do not write to it."""
        if self._counts_defaults is None:
            return lines_at(self.capacities(nodes).amounts, rows)
        return nodes.offered_at(rows, self._lines)

    def used_with(
        self, requests: Int64Array, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        """Return the usage of each node plus some more requests.

        Args:
            requests: Shape ``(K, 1)``.
            nodes: All nodes.
            rows: Some of them.

        Returns:
            Shape ``(K, N)``, dtype int64; the caller may write to it.
        """
        defaults = self._counts_defaults
        if defaults is None:
            usages = [resource.usage(nodes, rows) for resource in self._resources]
            used = np.array(usages)
            used += requests
            return used
        return nodes.requested_at(rows, self._lines, with_defaults=defaults) + requests


def _measured(resources: Sequence[ResourceColumn], nodes: NodeTable) -> Capacities:
    amounts: Int64Array = np.zeros((len(resources), nodes.capacity), dtype=np.int64)
    divisors: Float64Array = np.ones(amounts.shape)
    is_everywhere = is_exact = True
    for line, resource in enumerate(resources):
        capacity = resource.capacity(nodes)
        if capacity is None:
            is_everywhere = False
            continue
        amounts[line], divisors[line] = capacity.amounts, capacity.divisors
        is_everywhere &= capacity.is_everywhere
        is_exact &= capacity.is_exact
    return Capacities(amounts, divisors, is_everywhere, is_exact)


def _shared_defaults(resources: Sequence[ResourceColumn]) -> bool | None:
    """Whether some resources count defaults; None if they are not the first lines."""
    names = tuple(resource.name for resource in resources)
    kinds = {resource.counts_defaults for resource in resources}
    if names != _LEADING[: len(names)] or len(kinds) != 1:
        return None
    return kinds.pop()
