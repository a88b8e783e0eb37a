"""The dry run on many nodes at once, as long as only sums over pods matter.

Rank by rank, in the order of importance, the next pod of every node is brought back,
and the filters judge all these nodes together on an imagined table.
"""

import itertools
from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np

from quaymaster.arrays import BoolArray, Int64Array, RowArray
from quaymaster.cycle_state import CycleState
from quaymaster.handle import Handle
from quaymaster.hookspecs import PodUse
from quaymaster.node_info import NodeInfo
from quaymaster.node_table import CPU, EPHEMERAL_STORAGE, MEMORY, NodeTable
from quaymaster.objects import Pod
from quaymaster.preemption.candidates import Candidate, importance
from quaymaster.resources import pod_usage
from quaymaster.status import Status

__all__ = ["VictimColumns", "try_rows"]

_NOBODY = np.iinfo(np.int64).max


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
        row = info.row
        self.priority[:, row] = _NOBODY
        self._uids[row] = [pod.uid for pod in pods]
        for rank, pod in enumerate(pods):
            usage = pod_usage(pod)
            requests = usage.requests
            self.priority[rank, row] = pod.priority
            self.non_zero[rank, :, row] = (
                usage.non_zero_milli_cpu,
                usage.non_zero_memory,
            )
            column = self.requested[rank, :, row]
            column[:] = 0
            column[CPU] = requests.milli_cpu
            column[MEMORY] = requests.memory
            column[EPHEMERAL_STORAGE] = requests.ephemeral_storage
            for name, amount in requests.scalars.items():
                index = nodes.resource(name)
                assert index is not None, "a pod on a node requests it"
                column[index] = amount

    def _grow(self, ranks: int) -> None:
        more = max(ranks, 2 * len(self.priority)) - len(self.priority)
        self.priority = np.pad(
            self.priority, ((0, more), (0, 0)), constant_values=_NOBODY
        )
        self.requested = np.pad(self.requested, ((0, more), (0, 0), (0, 0)))
        self.non_zero = np.pad(self.non_zero, ((0, more), (0, 0), (0, 0)))


def try_rows(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    infos: Sequence[NodeInfo],
    columns: VictimColumns,
) -> Mapping[str, Candidate | Status | None]:
    """Find the victims on many nodes, without nominated pods and budgets.

    Args:
        handle: The framework; no filter that takes part looks at single pods.
        state: The pod's scratch space after filtering.
        pod: The pod that needs room.
        infos: The nodes.
        columns: The pods on them; it is brought up to date.

    Returns:
        Node name -> the candidate, why it is none, or None if nobody could go. Nodes
        that only the general way can answer for are left out.
    """
    if not infos:
        return {}
    infos = sorted(infos, key=attrgetter("row"))
    nodes = handle.snapshot.nodes
    columns.bring_up(nodes, infos)
    trial = _Trial(handle, state, pod, nodes, infos, columns)
    return trial.run()


class _Trial:
    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        infos: Sequence[NodeInfo],
        columns: VictimColumns,
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._columns = columns
        self._imagined = nodes.imagined()
        rows: RowArray = np.array([info.row for info in infos], dtype=np.intp)
        # Row by rank: who could go. Those of one node are neighbours, least important
        # last, since a row is sorted by priority.
        potential: BoolArray = columns.priority[:, rows] < pod.priority
        concerned = potential.any(axis=0)
        asked = [bool(one) for one in concerned]
        self._infos = list(itertools.compress(infos, asked))
        self._answers: dict[str, Candidate | Status | None] = {
            info.name: None
            for info, is_asked in zip(infos, asked, strict=True)
            if not is_asked
        }
        self._rows = rows[concerned]
        self._potential = potential[:, concerned]

    def run(self) -> Mapping[str, Candidate | Status | None]:
        if not len(self._rows):
            return self._answers
        self._remove_all()
        passed = self._passed(self._rows, None)
        if passed is None:
            return {}
        victims = self._reprieve(passed)
        if victims is None:
            return {}
        for index in np.flatnonzero(passed).tolist():
            info = self._infos[index]
            ranks = np.flatnonzero(victims[:, index]).tolist()
            if ranks:
                pods = tuple(self._columns.pod(info, rank) for rank in ranks)
                candidate = Candidate(node_name=info.name, victims=pods)
                self._answers[info.name] = candidate
        return self._answers

    def _remove_all(self) -> None:
        rows, gone = self._rows, self._potential
        table, columns = self._imagined, self._columns
        for rank in np.flatnonzero(gone.any(axis=1)).tolist():
            some = rows[gone[rank]]
            table.requested[:, some] -= columns.requested[rank][:, some]
            table.non_zero_requested[:, some] -= columns.non_zero[rank][:, some]
            table.pod_count[some] -= 1

    def _reprieve(self, passed: BoolArray) -> BoolArray | None:
        """Bring pods back rank by rank; who cannot stay, as ``_potential`` is shaped.

        None if a filter met an error.
        """
        victims: BoolArray = np.zeros_like(self._potential)
        for rank in np.flatnonzero(self._potential.any(axis=1)).tolist():
            asked = np.flatnonzero(self._potential[rank] & passed)
            if not len(asked):
                continue
            some = self._rows[asked]
            self._bring_back(rank, some, 1)
            stays = self._passed(some, PodUse.SUMS)
            if stays is None:
                return None
            leaving = asked[~stays]
            if len(leaving):
                self._bring_back(rank, self._rows[leaving], -1)
                victims[rank, leaving] = True
        return victims

    def _bring_back(self, rank: int, rows: RowArray, sign: int) -> None:
        table, columns = self._imagined, self._columns
        table.requested[:, rows] += sign * columns.requested[rank][:, rows]
        table.non_zero_requested[:, rows] += sign * columns.non_zero[rank][:, rows]
        table.pod_count[rows] += sign

    def _passed(self, rows: RowArray, pod_use: PodUse | None) -> BoolArray | None:
        """Which rows pass the filters; the first time, note why the others do not."""
        found = self._handle.run_filters_on_rows(
            self._state, self._pod, self._imagined, rows, pod_use
        )
        if isinstance(found, Status):
            return None
        passed = np.isin(rows, self._imagined.row_numbers(found.passed))
        if pod_use is None:
            for index in np.flatnonzero(~passed).tolist():
                name = self._infos[index].name
                self._answers[name] = found.statuses[name]
        return passed
