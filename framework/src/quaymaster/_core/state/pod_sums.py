"""The sums of the requests of the pods on each node, as columns."""

from collections.abc import Collection

import numpy as np

from quaymaster._api.objects.resources import PodUsage
from quaymaster._core.state.arrays import Int64Array, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster._core.state.sparse import empty_like, grown

__all__ = ["PodSums"]


class PodSums:
    """The sums over the pods of each node; ``C`` rows of nodes, ``R`` of resources.

    Most pods are added and removed between two reads of a column. So changed nodes are
    collected, and written when a column is read. Extended resources are written at
    once, since few nodes have any.

    Args:
        index: Extended resource -> its row in `requested`; shared with the table.
        capacity: The number of nodes that there is room for.

    Attributes:
        requested: Shape ``(R, C)``, dtype int64: the requests of pods.
        non_zero: Shape ``(2, C)``, dtype int64: the same for CPU and memory, with
            defaults for containers that request none.
        pod_count: Shape ``(C,)``, dtype int64: the number of pods.
        unwritten: Row -> the node whose sums have changed since they were written.
    """

    __slots__ = ("_index", "non_zero", "pod_count", "requested", "unwritten")

    def __init__(self, index: dict[str, int], capacity: int) -> None:
        self._index = index
        self.requested: Int64Array = np.zeros((3, capacity), dtype=np.int64)
        self.non_zero: Int64Array = np.zeros((2, capacity), dtype=np.int64)
        self.pod_count: Int64Array = np.zeros(capacity, dtype=np.int64)
        self.unwritten: dict[int, NodeInfo] = {}

    def write(self) -> None:
        """Write the sums of the changed nodes."""
        requested, non_zero = self.requested, self.non_zero
        for row, info in self.unwritten.items():
            used = info.requested
            requested[CPU, row] = used.milli_cpu
            requested[MEMORY, row] = used.memory
            requested[EPHEMERAL_STORAGE, row] = used.ephemeral_storage
            non_zero[CPU, row] = info.non_zero_milli_cpu
            non_zero[MEMORY, row] = info.non_zero_memory
            self.pod_count[row] = len(info.pods)
        self.unwritten.clear()

    def write_extended(self, info: NodeInfo, names: Collection[str]) -> None:
        """Write the extended resources with these names on one node."""
        amounts = info.requested.scalars
        for name in names:
            self.requested[self._index[name], info.row] = amounts.get(name, 0)

    def copy(self) -> "PodSums":
        """Return the same sums, up to date, in new arrays."""
        self.write()
        other = PodSums(self._index, 0)
        lines, columns = self.requested.shape
        other.requested = grown(self.requested, (lines, columns))
        other.non_zero = self.non_zero.copy()
        other.pod_count = self.pod_count.copy()
        return other

    def empty(self) -> "PodSums":
        """Return sums over no pods, with the same shape."""
        other = PodSums(self._index, 0)
        other.requested = empty_like(self.requested)
        other.non_zero = np.zeros_like(self.non_zero)
        other.pod_count = np.zeros_like(self.pod_count)
        return other

    def add_sums(self, other: "PodSums") -> None:
        """Add other sums, which have the same shape."""
        # Most lines of extended resources are zero.
        for line in np.flatnonzero(other.requested.any(axis=1)).tolist():
            self.requested[line] += other.requested[line]
        self.non_zero += other.non_zero
        self.pod_count += other.pod_count

    def add(self, row: int | RowArray, usage: PodUsage, times: int = 1) -> bool:
        """Add a pod, or remove it with `times` -1; see `NodeTable.imagine_pod`."""
        requests, index = usage.requests, self._index
        # No node offers the resource, so there is no line to add to. The caller must
        # know that the sums lack something.
        if not requests.scalars.keys() <= index.keys():
            return False
        requested, non_zero = self.requested, self.non_zero
        requested[CPU, row] += times * requests.milli_cpu
        requested[MEMORY, row] += times * requests.memory
        requested[EPHEMERAL_STORAGE, row] += times * requests.ephemeral_storage
        for name, amount in requests.scalars.items():
            requested[index[name], row] += times * amount
        non_zero[CPU, row] += times * usage.non_zero_milli_cpu
        non_zero[MEMORY, row] += times * usage.non_zero_memory
        self.pod_count[row] += times
        return True

    def add_resources(self, more: int) -> None:
        """Make room for more extended resources."""
        lines, columns = self.requested.shape
        self.requested = grown(self.requested, (lines + more, columns))

    def grow(self, more: int) -> None:
        """Make room for more nodes."""
        lines, columns = self.requested.shape
        self.requested = grown(self.requested, (lines, columns + more))
        self.non_zero = np.pad(self.non_zero, ((0, 0), (0, more)))
        self.pod_count = np.pad(self.pod_count, (0, more))
