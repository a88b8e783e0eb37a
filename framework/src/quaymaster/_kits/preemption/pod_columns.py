"""The pods of the nodes that a dry run tries, for the batch twins of rules."""

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.state.arrays import BoolArray, Float64Array, Int64Array, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster._kits.preemption.columns import NOBODY, VictimColumns

__all__ = ["PodColumns"]

_FIXED: Final = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL_STORAGE}


class PodColumns:
    """The pods of ``N`` nodes by their rank, the most important first, as columns.

    ``K`` is the number of ranks; for a node with fewer pods, the last ranks are empty.
    Columns are built when they are first read. Do not write to them.

    Args:
        columns: The pods of all nodes, up to date for ``rows``.
        table: The columns of the nodes.
        rows: The nodes' rows, ascending.
        group: Returns the group of a pod, see `VictimRule.group`.

    Attributes:
        rows: Shape ``(N,)``, ascending: the rows of the nodes in ``table``.
        table: The snapshot's `NodeTable`.
    """

    def __init__(
        self,
        columns: VictimColumns,
        table: NodeTable,
        rows: RowArray,
        group: Callable[[Pod], Hashable],
    ) -> None:
        self._columns = columns
        self._group = group
        self.table = table
        self.rows = rows

    @cached_property
    def nodes(self) -> Sequence[NodeInfo]:
        """The nodes, in the order of ``rows``."""
        return self.table.infos_at(self.rows)

    @cached_property
    def priority(self) -> Int64Array:
        """Priorities, shape ``(K, N)``; the largest int64 where there is no pod."""
        return self._columns.priority[:, self.rows]

    @cached_property
    def is_pod(self) -> BoolArray:
        """Where there is a pod, shape ``(K, N)``."""
        is_pod: BoolArray = self.priority != NOBODY
        return is_pod

    @cached_property
    def start(self) -> Float64Array:
        """When pods started, shape ``(K, N)``; infinity for pods that have not."""
        return self._columns.start[:, self.rows]

    @property
    def group(self) -> RowArray:
        """The group of each pod as an index of ``groups``, shape ``(K, N)``.

        It is -1 where there is no pod.
        """
        return self._grouped[0]

    @property
    def groups(self) -> Sequence[Hashable]:
        """The groups as the rule returns them; some may have no pod on these nodes."""
        return self._grouped[1]

    # On demand: only rules with groups pay for a call for each pod.
    @cached_property
    def _grouped(self) -> tuple[RowArray, Sequence[Hashable]]:
        codes = self._columns.group_codes(self.nodes, self._group)
        return codes[:, self.rows], self._columns.groups

    def in_groups(self, is_meant: Callable[[Hashable], bool]) -> BoolArray:
        """Return which pods are in some groups, shape ``(K, N)``.

        Args:
            is_meant: Whether a group is one of these; called once for each group.
        """
        # The last element is for places without a pod, whose group is -1.
        chosen = np.array([*map(is_meant, self.groups), False], dtype=np.bool_)
        is_chosen: BoolArray = chosen[self.group]
        return is_chosen

    def requested(self, resource: str) -> Int64Array:
        """Return the requests of pods for a resource, shape ``(K, N)``.

        Args:
            resource: Its name, such as ``cpu`` (in millicores), ``memory``,
                ``ephemeral-storage`` (both in bytes), or an extended resource.
        """
        index = _FIXED.get(resource, self.table.resource(resource))
        if index is None:
            return np.zeros((len(self._columns.priority), len(self.rows)), np.int64)
        return self._columns.requested[:, index, self.rows]

    def uids(self, place: int) -> Sequence[str]:
        """Return the uids of one node's pods, by rank.

        Args:
            place: The index of the node in ``nodes``.
        """
        return self._columns.uids(int(self.rows[place]))
