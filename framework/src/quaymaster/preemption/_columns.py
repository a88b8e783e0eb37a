"""The dry run on many nodes at once, as long as only sums over pods matter.

Rank by rank, in the order of importance, the next pod of every node is brought back,
and the filters judge all these nodes together on an imagined table.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster.arrays import BoolArray, Int64Array, RowArray, Rows
from quaymaster.cycle_state import CycleState
from quaymaster.handle import Handle
from quaymaster.hookspecs import PodUse
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import CPU, EPHEMERAL_STORAGE, MEMORY, NodeTable
from quaymaster.objects import Pod
from quaymaster.preemption.candidates import Candidate, importance
from quaymaster.resources import pod_usage
from quaymaster.results import FilteredRows, NodeStatuses
from quaymaster.status import Status

__all__ = ["NO_VICTIMS", "RowTrial", "VictimColumns"]

NO_VICTIMS: Final = Status.unresolvable("No preemption victims found for incoming pod")
"""What a dry run says of a node without any pod that may be preempted."""

_NOBODY: Final = np.iinfo(np.int64).max


class VictimColumns:
    """The pods of each node by importance, and what each of them requests.

    ``K`` is the number of ranks there is room for, ``R`` and ``C`` are those of the
    `NodeTable`. Rows are written when they are first needed, and again when they moved.

    Attributes:
        priority: Shape ``(K, C)``, dtype int64; more than any priority where a node has
            no pod of that rank.
        requested: Shape ``(K, R, C)``, dtype int64.
        non_zero: Shape ``(K, 2, C)``, dtype int64.
    """

    def __init__(self) -> None:
        self.priority: Int64Array = np.empty((0, 0), dtype=np.int64)
        self.requested: Int64Array = np.empty((0, 0, 0), dtype=np.int64)
        self.non_zero: Int64Array = np.empty((0, 2, 0), dtype=np.int64)
        self._uids: dict[int, list[str]] = {}
        self._position = 0

    def bring_up(self, nodes: NodeTable, infos: Sequence[NodeInfo]) -> None:
        """Write the rows of the given nodes, as far as they moved since the last time.

        Args:
            nodes: The snapshot's table.
            infos: The nodes that will be looked at.
        """
        moved = nodes.moved_since(self._position)
        if moved is None or not self._has_shape_of(nodes):
            self._clear(nodes)
        else:
            for row in moved:
                self._uids.pop(row, None)
        self._position = nodes.position
        for info in infos:
            if info.row not in self._uids:
                self._write(nodes, info)

    def pod(self, info: NodeInfo, rank: int) -> Pod:
        """The pod of a rank, as it is now."""
        return info.pods[self._uids[info.row][rank]]

    def _has_shape_of(self, nodes: NodeTable) -> bool:
        return self.requested.shape[1:] == nodes.requested.shape

    def _clear(self, nodes: NodeTable) -> None:
        self._uids.clear()
        resources, capacity = nodes.requested.shape
        ranks = len(self.priority)
        self.priority = np.full((ranks, capacity), _NOBODY, dtype=np.int64)
        self.requested = np.zeros((ranks, resources, capacity), dtype=np.int64)
        self.non_zero = np.zeros((ranks, 2, capacity), dtype=np.int64)

    def _write(self, nodes: NodeTable, info: NodeInfo) -> None:
        pods = sorted(info.pods.values(), key=importance)
        if len(pods) > len(self.priority):
            self._grow(len(pods))
        row, count = info.row, len(pods)
        self._uids[row] = [pod.uid for pod in pods]
        usages = [pod_usage(pod) for pod in pods]
        self.priority[count:, row] = _NOBODY
        self.priority[:count, row] = [pod.priority for pod in pods]
        self.non_zero[:count, CPU, row] = [one.non_zero_milli_cpu for one in usages]
        self.non_zero[:count, MEMORY, row] = [one.non_zero_memory for one in usages]
        requests = [one.requests for one in usages]
        columns = self.requested[:count, :, row]
        columns[:] = 0
        columns[:, CPU] = [one.milli_cpu for one in requests]
        columns[:, MEMORY] = [one.memory for one in requests]
        columns[:, EPHEMERAL_STORAGE] = [one.ephemeral_storage for one in requests]
        for rank, one in enumerate(requests):
            for name, amount in one.scalars.items():
                index = nodes.resource(name)
                assert index is not None, "a pod on a node requests it"
                columns[rank, index] = amount

    def _grow(self, ranks: int) -> None:
        more = max(ranks, 2 * len(self.priority)) - len(self.priority)
        self.priority = np.pad(
            self.priority, ((0, more), (0, 0)), constant_values=_NOBODY
        )
        self.requested = np.pad(self.requested, ((0, more), (0, 0), (0, 0)))
        self.non_zero = np.pad(self.non_zero, ((0, more), (0, 0), (0, 0)))


class RowTrial:
    """What many nodes have to lose, if neither nominated pods nor budgets matter.

    Args:
        handle: The framework; no filter that takes part looks at single pods.
        state: The pod's scratch space after filtering.
        pod: The pod that needs room.
        infos: The nodes.
        columns: The pods on them; it is brought up to date.
    """

    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: Pod,
        infos: Sequence[NodeInfo],
        columns: VictimColumns,
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._columns = columns
        nodes = handle.snapshot.nodes
        columns.bring_up(nodes, infos)
        rows: RowArray = np.array([info.row for info in infos], dtype=np.intp)
        rows.sort()
        self._imagined = nodes.imagined()
        # By rank and row: who could go.
        potential: BoolArray = columns.priority[:, rows] < pod.priority
        concerned: BoolArray = np.logical_or.reduce(potential, axis=0)
        self._rows = rows[concerned]
        self._potential = potential[:, concerned]
        self._ranks: list[int] = np.flatnonzero(potential.any(axis=1)).tolist()
        self._index_of = {row: index for index, row in enumerate(self._rows.tolist())}
        self._statuses: NodeStatuses | None = None
        self._passed: BoolArray | None = None
        self._victims: BoolArray | None = None
        if len(self._rows):
            self._run()

    def answer(self, info: NodeInfo) -> "Candidate | Status | None":
        """The candidate, or why the node is none; None if only the slow way can tell.

        Args:
            info: One of the nodes.
        """
        index = self._index_of.get(info.row)
        if index is None:
            return NO_VICTIMS
        if self._passed is None or self._victims is None or self._statuses is None:
            return None
        if not self._passed[index]:
            return self._statuses[info.name]
        ranks = np.flatnonzero(self._victims[:, index]).tolist()
        if not ranks:
            return None
        pods = tuple([self._columns.pod(info, rank) for rank in ranks])
        return Candidate(node_name=info.name, victims=pods)

    def _run(self) -> None:
        for rank in self._ranks:
            self._move(rank, self._rows[self._potential[rank]], -1)
        found = self._filtered(self._rows, None)
        if isinstance(found, FilteredRows):
            self._statuses = found.statuses
            self._passed = self._is_among(self._rows, found.passed)
            self._victims = self._reprieve(self._passed)

    def _reprieve(self, passed: BoolArray) -> BoolArray | None:
        """Bring pods back rank by rank; who cannot stay, as ``_potential`` is shaped.

        None if a filter met an error.
        """
        victims: BoolArray = np.zeros_like(self._potential)
        for rank in self._ranks:
            asked = np.flatnonzero(self._potential[rank] & passed)
            if not len(asked):
                continue
            rows = self._rows[asked]
            self._move(rank, rows, 1)
            found = self._filtered(rows, PodUse.SUMS)
            if isinstance(found, Status):
                return None
            leaving = asked[~self._is_among(rows, found.passed)]
            if len(leaving):
                self._move(rank, self._rows[leaving], -1)
                victims[rank, leaving] = True
        return victims

    def _move(self, rank: int, rows: RowArray, sign: int) -> None:
        """Bring the pods of one rank back, or imagine them away."""
        table, columns = self._imagined, self._columns
        # Resource by resource: numpy is slow at picking rows of two dimensions at once.
        for sums, amounts in (
            *zip(table.requested, columns.requested[rank], strict=True),
            *zip(table.non_zero_requested, columns.non_zero[rank], strict=True),
        ):
            sums[rows] += sign * amounts[rows]
        table.pod_count[rows] += sign

    def _filtered(
        self, rows: RowArray, pod_use: PodUse | None
    ) -> FilteredRows | Status:
        return self._handle.run_filters_on_rows(
            self._state, self._pod, self._imagined, rows, pod_use
        )

    def _is_among(self, rows: RowArray, passed: Rows) -> BoolArray:
        """Which of some rows are among others, both ascending."""
        found: BoolArray = np.zeros(len(self._imagined.pod_count), dtype=np.bool_)
        found[passed] = True
        return found[rows]
