"""The pods of many nodes by importance, as columns."""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.state.arrays import Float64Array, Int64Array, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster._kits.preemption.candidates import started

__all__ = ["NOBODY", "Importance", "VictimColumns"]

NOBODY: Final = np.iinfo(np.int64).max
"""The priority of a rank where a node has no pod."""

Importance: TypeAlias = Callable[[Pod], tuple[float, ...]]
"""A sort key that puts more important pods first."""


class VictimColumns:
    """The pods of each node by importance, and the requests of each pod.

    ``K`` is the number of ranks that there is room for; ``R`` and ``C`` are those of
    the `NodeTable`. Rows are written when they are first needed, and after changes.

    Args:
        importance: Ranks the pods of a node.

    Attributes:
        groups: The group of each code of `group_codes`.
        priority: Shape ``(K, C)``, dtype int64; `NOBODY` where a node has no pod of
            that rank.
        start: Shape ``(K, C)``, dtype float64; infinite for a pod that has not started.
        requested: Shape ``(K, R, C)``, dtype int64.
        non_zero: Shape ``(K, 2, C)``, dtype int64.
    """

    def __init__(self, importance: Importance) -> None:
        self._importance = importance
        self.groups: list[Hashable] = []
        self.priority: Int64Array = np.empty((0, 0), dtype=np.int64)
        self.start: Float64Array = np.empty((0, 0), dtype=np.float64)
        self.requested: Int64Array = np.empty((0, 0, 0), dtype=np.int64)
        self.non_zero: Int64Array = np.empty((0, 2, 0), dtype=np.int64)
        self._uids: dict[int, list[str]] = {}
        self._revision = 0
        # Codes are computed only for rules that use them; other rules pay nothing.
        self._codes: RowArray = np.empty((0, 0), dtype=np.intp)
        self._code_of: dict[Hashable, int] = {}
        self._coded: set[int] = set()

    def bring_up(self, nodes: NodeTable, infos: Sequence[NodeInfo]) -> None:
        """Write the rows of some nodes that have changed since the last call.

        Args:
            nodes: The snapshot's table.
            infos: The nodes whose rows will be read.
        """
        changed = nodes.changes.since(self._revision)
        if changed is None or not self._has_shape_of(nodes):
            self._clear(nodes)
        else:
            for row in changed:
                self._uids.pop(row, None)
                self._coded.discard(row)
        self._revision = nodes.changes.revision
        for info in infos:
            if info.row not in self._uids:
                self._write(nodes, info)

    def uids(self, row: int) -> Sequence[str]:
        """Return the uids of a node's pods, by rank."""
        return self._uids[row]

    def group_codes(
        self, infos: Sequence[NodeInfo], group: Callable[[Pod], Hashable]
    ) -> RowArray:
        """Number the groups of pods, shape ``(K, C)``; -1 where there is no pod.

        Args:
            infos: The nodes whose rows are needed; they have been brought up.
            group: Returns a pod's group; the same function as in earlier calls.
        """
        if (
            self._codes.shape != self.priority.shape
            or len(self._code_of) > self._codes.size  # most groups have no pods now
        ):
            self._clear_groups()
        code_of, codes = self._code_of, self._codes
        for info in infos:
            row = info.row
            if row in self._coded:
                continue
            self._coded.add(row)
            names = [group(info.pods[uid]) for uid in self._uids[row]]
            codes[len(names) :, row] = -1
            codes[: len(names), row] = [
                code_of.setdefault(name, len(code_of)) for name in names
            ]
        if len(self.groups) < len(code_of):
            self.groups = list(code_of)
        return codes

    def _clear_groups(self) -> None:
        self._codes = np.full(self.priority.shape, -1, dtype=np.intp)
        self._coded.clear()
        self._code_of.clear()
        self.groups = []

    def _has_shape_of(self, nodes: NodeTable) -> bool:
        return self.requested.shape[1:] == nodes.requested.shape

    def _clear(self, nodes: NodeTable) -> None:
        self._uids.clear()
        self._coded.clear()
        resources, capacity = nodes.requested.shape
        ranks = len(self.priority)
        self.priority = np.full((ranks, capacity), NOBODY, dtype=np.int64)
        self.start = np.full((ranks, capacity), np.inf)
        self.requested = np.zeros((ranks, resources, capacity), dtype=np.int64)
        self.non_zero = np.zeros((ranks, 2, capacity), dtype=np.int64)

    def _write(self, nodes: NodeTable, info: NodeInfo) -> None:
        pods = sorted(info.pods.values(), key=self._importance)
        if len(pods) > len(self.priority):
            self._grow(len(pods))
        row, count = info.row, len(pods)
        self._uids[row] = [pod.uid for pod in pods]
        usages = [info.usage_of(pod) for pod in pods]
        self.priority[count:, row] = NOBODY
        self.priority[:count, row] = [pod.priority for pod in pods]
        self.start[:count, row] = [started(pod) for pod in pods]
        self.non_zero[:count, CPU, row] = [usage.non_zero_milli_cpu for usage in usages]
        self.non_zero[:count, MEMORY, row] = [usage.non_zero_memory for usage in usages]
        requests = [usage.requests for usage in usages]
        columns = self.requested[:count, :, row]
        columns[:] = 0
        columns[:, CPU] = [request.milli_cpu for request in requests]
        columns[:, MEMORY] = [request.memory for request in requests]
        columns[:, EPHEMERAL_STORAGE] = [
            request.ephemeral_storage for request in requests
        ]
        for rank, request in enumerate(requests):
            for name, amount in request.scalars.items():
                index = nodes.resource(name)
                assert index is not None, "a pod on a node requests it"
                columns[rank, index] = amount

    # Doubles the room, so that a cluster that fills up copies each column only a few
    # times.
    def _grow(self, ranks: int) -> None:
        more = max(ranks, 2 * len(self.priority)) - len(self.priority)
        self.priority = np.pad(
            self.priority, ((0, more), (0, 0)), constant_values=NOBODY
        )
        self.start = np.pad(self.start, ((0, more), (0, 0)), constant_values=np.inf)
        self.requested = np.pad(self.requested, ((0, more), (0, 0), (0, 0)))
        self.non_zero = np.pad(self.non_zero, ((0, more), (0, 0), (0, 0)))
