"""Several resources of many nodes in one pass: arrays with a line for each."""

from collections.abc import Sequence
from typing import Final, TypeVar

import attrs
import numpy as np

from quaymaster._state.allocation import ResourceColumn
from quaymaster._state.arrays import Float64Array, Int64Array, Rows
from quaymaster._state.node_table import NodeTable

__all__ = ["Capacities", "ResourceBlock", "lines_at"]

LinesT = TypeVar("LinesT", Int64Array, Float64Array)

_LEADING: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources with the first lines in the columns of a table."""


@attrs.frozen(eq=False)
class Capacities:
    """What all nodes offer of some resources, prepared for divisions.

    ``K`` is the number of resources, ``C`` that of the rows that there is room for.

    Attributes:
        amounts: Shape ``(K, C)``, dtype int64.
        divisors: Shape ``(K, C)``, dtype float64: the same, with 1 in place of 0.
        is_everywhere: Whether every node offers some of each resource.
        is_exact: As in `Capacity`, for all resources.
    """

    amounts: Int64Array
    divisors: Float64Array
    is_everywhere: bool
    is_exact: bool

    def amounts_on(self, rows: Rows) -> Int64Array:
        """Return what some nodes offer, shape ``(K, N)``. Do not write to it."""
        return lines_at(self.amounts, rows)

    def divisors_on(self, rows: Rows) -> Float64Array:
        """Return the divisors of some nodes, shape ``(K, N)``. Do not write to it."""
        return lines_at(self.divisors, rows)


class ResourceBlock:
    """Reads capacities and usage of several resources as one array.

    NumPy takes hardly longer for two resources than for one if nodes are some hundred,
    and half as long again if they are a thousand.

    Args:
        resources: The resources.
    """

    __slots__ = ("_capacities", "_counts_defaults", "_nodes", "_resources", "_revision")

    def __init__(self, resources: Sequence[ResourceColumn]) -> None:
        self._resources = tuple(resources)
        # None: the lines of the block are not the first ones of an array of the table.
        self._counts_defaults = _shared_defaults(resources)
        self._capacities: Capacities | None = None
        self._nodes: NodeTable | None = None
        self._revision = -1

    def capacities(self, nodes: NodeTable) -> Capacities:
        """Return what all nodes offer.

        It is the same object until a node is added, removed or changed itself.
        """
        # Identity: another table has other nodes, and revisions of its own.
        revision = nodes.node_changes.revision
        known = self._capacities
        if known is None or nodes is not self._nodes or revision != self._revision:
            known = self._capacities = _measured(self._resources, nodes)
            self._nodes, self._revision = nodes, revision
        return known

    def used_with(
        self, requests: Int64Array, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        """Return how much would be taken with some more requests on each node.

        Args:
            requests: Shape ``(K, 1)``.
            nodes: All nodes.
            rows: Some of them.

        Returns:
            Shape ``(K, N)``, dtype int64; an array of the caller's own.
        """
        count = len(self._resources)
        if self._counts_defaults is None:
            used = np.array([one.usage(nodes, rows) for one in self._resources])
            used += requests
            return used
        table = nodes.non_zero_requested if self._counts_defaults else nodes.requested
        return lines_at(table[:count], rows) + requests


def lines_at(lines: LinesT, rows: Rows) -> LinesT:
    """Return some nodes' part of an array of lines, shape ``(K, N)``, or of one line.

    Args:
        lines: Shape ``(K, C)``, as the resource columns of a `NodeTable` are; or
            ``(C,)``, then what is returned has shape ``(N,)``.
        rows: The rows of the nodes.

    Returns:
        Do not write to it: for all rows it is a view.
    """
    # To index with rows takes five times as long here as to take them.
    if isinstance(rows, slice):
        return lines[..., rows]
    return lines.take(rows, axis=-1)


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
    """Whether resources that lie in a row in an array of the table count defaults."""
    names = tuple(resource.name for resource in resources)
    kinds = {resource.counts_defaults for resource in resources}
    if names != _LEADING[: len(names)] or len(kinds) != 1:
        return None
    return kinds.pop()
