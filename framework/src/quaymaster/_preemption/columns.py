"""The pods of many nodes by importance, as columns."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from quaymaster._objects.resources import pod_usage
from quaymaster._preemption.candidates import importance
from quaymaster._state.arrays import Float64Array, Int64Array
from quaymaster._state.node_info import NodeInfo
from quaymaster._state.node_table import NodeTable
from quaymaster._state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY

__all__ = ["VictimColumns"]

_NOBODY: Final = np.iinfo(np.int64).max


class VictimColumns:
    """The pods of each node by importance, and what each of them requests.

    ``K`` is the number of ranks there is room for, ``R`` and ``C`` are those of the
    `NodeTable`. Rows are written when they are first needed, and after they changed.

    Attributes:
        priority: Shape ``(K, C)``, dtype int64; more than any priority where a node has
            no pod of that rank.
        start: Shape ``(K, C)``, dtype float64; infinite for a pod that has not started.
        requested: Shape ``(K, R, C)``, dtype int64.
        non_zero: Shape ``(K, 2, C)``, dtype int64.
    """

    def __init__(self) -> None:
        self.priority: Int64Array = np.empty((0, 0), dtype=np.int64)
        self.start: Float64Array = np.empty((0, 0), dtype=np.float64)
        self.requested: Int64Array = np.empty((0, 0, 0), dtype=np.int64)
        self.non_zero: Int64Array = np.empty((0, 2, 0), dtype=np.int64)
        self._uids: dict[int, list[str]] = {}
        self._revision = 0

    def bring_up(self, nodes: NodeTable, infos: Sequence[NodeInfo]) -> None:
        """Write the rows of the given nodes, if they changed since the last time.

        Args:
            nodes: The snapshot's table.
            infos: The nodes that will be looked at.
        """
        changed = nodes.changes.since(self._revision)
        if changed is None or not self._has_shape_of(nodes):
            self._clear(nodes)
        else:
            for row in changed:
                self._uids.pop(row, None)
        self._revision = nodes.changes.revision
        for info in infos:
            if info.row not in self._uids:
                self._write(nodes, info)

    def uids(self, row: int) -> Sequence[str]:
        """The uids of a node's pods, by rank."""
        return self._uids[row]

    def _has_shape_of(self, nodes: NodeTable) -> bool:
        return self.requested.shape[1:] == nodes.requested.shape

    def _clear(self, nodes: NodeTable) -> None:
        self._uids.clear()
        resources, capacity = nodes.requested.shape
        ranks = len(self.priority)
        self.priority = np.full((ranks, capacity), _NOBODY, dtype=np.int64)
        self.start = np.full((ranks, capacity), np.inf)
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
        self.start[:count, row] = [importance(pod)[1] for pod in pods]
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
        self.start = np.pad(self.start, ((0, more), (0, 0)), constant_values=np.inf)
        self.requested = np.pad(self.requested, ((0, more), (0, 0), (0, 0)))
        self.non_zero = np.pad(self.non_zero, ((0, more), (0, 0), (0, 0)))
