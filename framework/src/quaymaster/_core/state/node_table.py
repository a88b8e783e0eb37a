"""All nodes as numpy columns, for plugins that process many nodes at once.

The `NodeInfo` of a node is authoritative. A `NodeTable` mirrors it, one row per node,
and each change updates one row. A node keeps its row until it is removed; then the row
is reused.
"""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from quaymaster._api.objects import Taint
from quaymaster._api.objects.resources import PodUsage
from quaymaster._core.state.arrays import BoolArray, Int64Array, RowArray, Rows
from quaymaster._core.state.coded_column import CodedColumn
from quaymaster._core.state.host_port_rows import HostPortRows
from quaymaster._core.state.image_states import add_images, remove_images
from quaymaster._core.state.name_ranks import NameRanks
from quaymaster._core.state.node_info import ImageState, NodeInfo
from quaymaster._core.state.pod_sums import PodSums
from quaymaster._core.state.resource_rows import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    ResourceRows,
)
from quaymaster._core.state.row_history import RowHistory
from quaymaster._core.state.row_log import RowLog
from quaymaster._core.state.sparse import grown

__all__ = ["CPU", "EPHEMERAL_STORAGE", "MEMORY", "CodedColumn", "NodeTable"]

# Columns double when they are full. Starting with 16, 64 or 256 rows is equally fast.
_FIRST_CAPACITY: Final = 64


class NodeTable:
    """The columns of all nodes. Plugins read; only the framework writes.

    ``C`` is the number of rows that there is room for, ``R`` the number of resources.
    Index columns with `rows` or with the rows of a hook, never with names.

    Attributes:
        infos: The `NodeInfo` of each row; None where a row is free.
        capacity: The number of rows that there is room for: ``C``.
        allocatable: Shape ``(R, C)``, dtype int64: the resources that nodes offer.
        allowed_pods: Shape ``(C,)``, dtype int64: allocatable pods.
        unschedulable: Shape ``(C,)``, dtype bool: cordoned nodes.
        taints: Each node's taints as one value, without the times of their adding.
        images: The state of each image name on any node.
        changes: The log of rows whose node or pods were added, removed or changed.
        node_changes: The log of rows whose node itself was added, removed or changed.
        row_history: The nodes that had each row before.
        is_imagined: Whether this is a trial table, whose sums may be of other pods than
            those in ``infos``.
    """

    capacity: int = _FIRST_CAPACITY

    def __init__(self) -> None:
        self.infos: list[NodeInfo | None] = []
        self.allocatable: Int64Array = np.zeros((3, _FIRST_CAPACITY), dtype=np.int64)
        self.allowed_pods: Int64Array = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self.unschedulable: BoolArray = np.zeros(_FIRST_CAPACITY, dtype=np.bool_)
        self.taints: CodedColumn[tuple[Taint, ...]] = CodedColumn(_FIRST_CAPACITY)
        self.images: dict[str, ImageState] = {}
        self.is_imagined = False
        self.changes = RowLog()
        self.node_changes = RowLog()
        self.row_history = RowHistory()
        self._row_of: dict[str, int] = {}
        self._free_rows: list[int] = []
        self._resources = ResourceRows()
        self._sums = PodSums(self._resources.index, _FIRST_CAPACITY)
        self._labels: dict[str, CodedColumn[str]] = {}
        self._host_ports = HostPortRows()
        # A node in the row? To look through `infos` took a fifth of the loops of a
        # simulated autoscaler, each of which adds and removes a few of 1,700 nodes.
        self._live: BoolArray = np.zeros(_FIRST_CAPACITY, dtype=np.bool_)
        self._rows: Rows | None = None
        self._name_ranks: NameRanks | None = None
        # Name of a column -> its lines and their values at the last rows. Filters and
        # scores read the same rows one after the other: `take` of two lines of a
        # thousand takes longer than adding them.
        self._taken: dict[str, tuple[slice, Int64Array]] = {}
        self._taken_rows: Rows | None = None
        self._taken_at = -1

    def __len__(self) -> int:
        return len(self._row_of)

    def __iter__(self) -> Iterator[NodeInfo]:
        """All nodes, in row order."""
        return (info for info in self.infos if info is not None)

    @property
    def requested(self) -> Int64Array:
        """The requests of pods, shape ``(R, C)``, dtype int64."""
        sums = self._sums
        if sums.unwritten:
            sums.write()
        return sums.requested

    @property
    def non_zero_requested(self) -> Int64Array:
        """CPU and memory requested, with defaults for containers that request none.

        Shape ``(2, C)``, dtype int64.
        """
        sums = self._sums
        if sums.unwritten:
            sums.write()
        return sums.non_zero

    @property
    def pod_count(self) -> Int64Array:
        """The number of pods, shape ``(C,)``, dtype int64."""
        sums = self._sums
        if sums.unwritten:
            sums.write()
        return sums.pod_count

    @property
    def name_ranks(self) -> Int64Array:
        """The number of nodes with a smaller name, shape ``(C,)``, dtype int64.

        Sorted on the first call, then updated.
        """
        if self._name_ranks is None:
            self._name_ranks = NameRanks(self.infos, self.capacity)
        return self._name_ranks.column

    @property
    def rows(self) -> Rows:
        """All rows that hold a node."""
        if self._rows is None:
            self._rows = (
                self._live.nonzero()[0]
                if self._free_rows
                # A slice while there are no gaps: numpy then reads columns in place,
                # without a copy.
                else slice(0, len(self.infos))
            )
        return self._rows

    def live(self, rows: RowArray) -> RowArray:
        """Return those of some rows that hold a node, in their order."""
        if not self._free_rows:
            return rows
        return rows[self._live[rows]]

    def row_numbers(self, rows: Rows) -> RowArray:
        """Return the given rows as an array of numbers, shape ``(N,)``."""
        if isinstance(rows, slice):
            return np.arange(rows.start, rows.stop, dtype=np.intp)
        return rows

    def count(self, rows: Rows) -> int:
        """Return the number of rows that an index selects."""
        return rows.stop - rows.start if isinstance(rows, slice) else len(rows)

    def offered_at(self, rows: Rows, lines: slice) -> Int64Array:
        """Return some lines of `allocatable` on some nodes, shape ``(K, N)``.

        All callers with the same rows in one attempt get the same array, so that it is
        built once. Do not write to it.

        Args:
            rows: The rows of the nodes.
            lines: The ``K`` lines, such as ``slice(0, 2)`` for CPU and memory.
        """
        # Identity: equal rows are mostly the same object.
        if rows is self._taken_rows and self._taken_at == self.changes.revision:
            entry = self._taken.get("offered")
            if entry is not None and entry[0] == lines:
                return entry[1]
        return self._take("offered", self.allocatable, rows, lines)

    def requested_at(
        self, rows: Rows, lines: slice, *, with_defaults: bool = False
    ) -> Int64Array:
        """Return some lines of `requested` on some nodes, as `offered_at` does.

        Args:
            rows: The rows of the nodes.
            lines: The ``K`` lines.
            with_defaults: Whether to return lines of `non_zero_requested` instead.
        """
        name = "non-zero" if with_defaults else "requested"
        # Identity: as above.
        if rows is self._taken_rows and self._taken_at == self.changes.revision:
            entry = self._taken.get(name)
            if entry is not None and entry[0] == lines:
                return entry[1]
        column = self.non_zero_requested if with_defaults else self.requested
        return self._take(name, column, rows, lines)

    def _take(
        self, name: str, column: Int64Array, rows: Rows, lines: slice
    ) -> Int64Array:
        if isinstance(rows, slice):
            return column[lines, rows]
        taken = column[lines].take(rows, axis=-1)
        if self.is_imagined:  # the log does not have the changes of its sums
            return taken
        revision = self.changes.revision
        # Identity: as above.
        if rows is not self._taken_rows or revision != self._taken_at:
            self._taken_rows, self._taken_at = rows, revision
            self._taken.clear()
        self._taken[name] = lines, taken
        return taken

    def infos_at(self, rows: Rows) -> Sequence[NodeInfo]:
        """Return the `NodeInfo` of each of the given rows, in their order."""
        if isinstance(rows, slice):
            picked = self.infos[rows]
        else:
            infos = self.infos
            picked = [infos[row] for row in rows.tolist()]
        return [info for info in picked if info is not None]

    def names_at(self, rows: Rows) -> list[str]:
        """Return the names of the nodes in the given rows."""
        return [info.name for info in self.infos_at(rows)]

    def row_of(self, name: str) -> int | None:
        """Return the row of a node, or None."""
        return self._row_of.get(name)

    def get(self, name: str) -> NodeInfo | None:
        """Return a node by its name, or None."""
        row = self._row_of.get(name)
        return None if row is None else self.infos[row]

    def rows_of(self, names: Collection[str]) -> RowArray:
        """Return the rows of nodes by their names, ascending; skip unknown names."""
        row_of = self._row_of
        rows = [row_of[name] for name in names if name in row_of]
        rows.sort()
        return np.array(rows, dtype=np.intp)

    def rows_in_order(self, names: Iterable[str]) -> list[int | None]:
        """Return the row of each name, in their order; None for unknown names."""
        return list(map(self._row_of.get, names))

    def resource(self, name: str) -> int | None:
        """Return the row of an extended resource in the resource columns.

        None if no node has ever offered it and no pod on a node requested it.
        """
        return self._resources.index.get(name)

    def resources(self) -> Mapping[str, int]:
        """Return the rows of all extended resources in the resource columns, by name.

        These are the resources that a node offers or has offered, or that a pod on a
        node requests.
        """
        return self._resources.index

    def label(self, key: str) -> CodedColumn[str]:
        """Return the values of one node label; built on the first call, then kept."""
        column = self._labels.get(key)
        if column is None:
            column = self._labels[key] = CodedColumn(self.capacity)
            for info in self:
                column.set(info.row, info.labels.get(key))
        return column

    def label_columns(self) -> Mapping[str, CodedColumn[str]]:
        """Return the label columns that `label` has built, by key."""
        return self._labels

    def rows_with_host_port(self, protocol: str, port: int) -> Collection[int]:
        """Return the rows on which some pod uses a host port on any address."""
        return self._host_ports.of(protocol, port)

    def imagined(self) -> "NodeTable":
        """Return a trial table: a copy whose sums over pods may be changed.

        The sums are `requested`, `non_zero_requested` and `pod_count`. Everything else
        is shared with this table and must not be changed.
        """
        other = copy.copy(self)
        # Columns of nodes are shared; only sums over pods are copied, since trials
        # change nothing else.
        other.is_imagined = True
        other._taken_rows = None
        other._sums = self._sums.copy()
        return other

    def no_sums(self) -> PodSums:
        """Return sums over no pods, for `imagine_sums` on a copy of this table."""
        return self._sums.empty()

    def imagine_sums(self, sums: PodSums) -> None:
        """Add the sums over many pods; only for an `imagined` table.

        Args:
            sums: The sums over these pods, of the shape of `requested`.
        """
        self._sums.add_sums(sums)

    def imagine_pod(
        self, row: int | RowArray, usage: PodUsage, *, times: int = 1
    ) -> bool:
        """Add one more pod to a row; only for an `imagined` table.

        Args:
            row: The row, or several rows, each of which gets such a pod.
            usage: The usage of the pod.
            times: -1 to remove it again.

        Returns:
            Whether it was added. False if the table has no column for a resource that
            the pod requests; then nothing has changed.
        """
        return self._sums.add(row, usage, times)

    def with_others(self, infos: Iterable[NodeInfo]) -> "NodeTable":
        """Build a table of the nodes that an extender sent back.

        A node gets the row that this table has for its name. A node that this table
        lacks, or that comes a second time, gets a row after those of this table. The
        nodes have no images, since upstream builds the nodes of an answer without them.

        Args:
            infos: The nodes; their rows are set.
        """
        other = NodeTable()
        other._grow(self.capacity)
        other.infos = [None] * len(self.infos)
        for info in infos:
            row = self._row_of.get(info.name)
            # Known nodes keep their rows, so that results by row compare with those of
            # the scheduler's own table. An extender may also send a node twice.
            if row is None or other.infos[row] is not None:
                row = other._new_row()
            other._put(info, row)
        other._rows = other._live.nonzero()[0]
        return other

    def add(self, info: NodeInfo) -> None:
        """Add a node in a free or new row.

        Raises:
            ValueError: The table has a node of that name already.
        """
        if info.name in self._row_of:
            raise ValueError(f"node {info.name!r} is in the table already")
        if self._free_rows:
            row = self._free_rows.pop()
        else:
            row = self._new_row()
        self._rows = None
        self._put(info, row)
        self.row_history.came(row, info.name)
        if self._name_ranks is not None:
            self._name_ranks.came(row, info.name)
        add_images(self.images, info)
        self._host_ports.add(info)

    def remove(self, info: NodeInfo) -> None:
        """Free a node's row."""
        row = info.row
        del self._row_of[info.name]
        self.row_history.went(row, info.name)
        if self._name_ranks is not None:
            self._name_ranks.went(info.name)
        self.infos[row] = None
        self._live[row] = False
        self._free_rows.append(row)
        self._rows = None
        self._sums.unwritten.pop(row, None)
        self.node_changes.note(row)
        remove_images(self.images, info)
        self._host_ports.remove(info)
        self.changes.note(row)

    def set_images(self, info: NodeInfo) -> None:
        """Apply a changed list of images of a node."""
        remove_images(self.images, info)
        add_images(self.images, info)

    def write_node(self, info: NodeInfo) -> None:
        """Write all columns of a node: those of the node object, and the usage."""
        row, offered = info.row, info.allocatable
        self.node_changes.note(row)
        self.allocatable[CPU, row] = offered.milli_cpu
        self.allocatable[MEMORY, row] = offered.memory
        self.allocatable[EPHEMERAL_STORAGE, row] = offered.ephemeral_storage
        index = self._resources.index
        for name in self._names_at(row, offered.scalars):
            self.allocatable[index[name], row] = offered.scalars.get(name, 0)
        self.allowed_pods[row] = offered.allowed_pods
        self.unschedulable[row] = info.node.spec.unschedulable
        self.taints.set(row, _without_times(info.taints))
        for key, column in self._labels.items():
            column.set(row, info.labels.get(key))
        self.write_usage(info)

    def write_usage(self, info: NodeInfo) -> None:
        """Write the requests of the pods on a node."""
        row, extended = info.row, info.requested.scalars
        # Written at once and not on demand, because a new resource may need a new line.
        # Nearly all pods end here with two looks at dicts.
        if extended or self._resources.by_node:
            self._sums.write_extended(info, self._names_at(row, extended))
        # Sums are written when a column is read: between two decisions, a row may
        # change several times (assumed, bound, confirmed).
        self._sums.unwritten[row] = info
        self.changes.note(row)

    def note_outside_change(self, name: str, *, of_node: bool) -> None:
        """Log that results for a node may differ, without a change of any column.

        Args:
            name: The node; nothing happens if there is none of this name.
            of_node: Whether results that depend on the node alone may differ, too.
        """
        row = self._row_of.get(name)
        if row is not None:
            if of_node:
                self.node_changes.note(row)
            self.changes.note(row)

    def note_pod_change(self, info: NodeInfo) -> None:
        """Log that a pod on a node has changed, without a change of any sum."""
        self.changes.note(info.row)

    def write_host_ports(
        self, info: NodeInfo, keys: Collection[tuple[str, int]]
    ) -> None:
        """Update some ``(protocol, port)`` pairs of a node: used or not."""
        self._host_ports.write(info, keys)

    def _new_row(self) -> int:
        row = len(self.infos)
        self.infos.append(None)
        if row >= self.capacity:
            self._grow(2 * row)
        return row

    def _put(self, info: NodeInfo, row: int) -> None:
        self.infos[row] = info
        self._live[row] = True
        info.row = row
        self._row_of[info.name] = row
        self.write_node(info)

    def _names_at(self, row: int, names: Collection[str]) -> Collection[str]:
        """Return the extended resources that a row has, or has had, a value for."""
        resources = self._resources.names_at(row, names)
        missing = len(self._resources) - len(self.allocatable)
        if missing > 0:
            more = max(missing, len(self.allocatable) - 3)
            lines, columns = self.allocatable.shape
            self.allocatable = grown(self.allocatable, (lines + more, columns))
            self._sums.add_resources(more)
        return resources

    def _grow(self, capacity: int) -> None:
        more, self.capacity = capacity - self.capacity, capacity
        lines, columns = self.allocatable.shape
        self.allocatable = grown(self.allocatable, (lines, columns + more))
        self._sums.grow(more)
        self.allowed_pods = np.pad(self.allowed_pods, (0, more))
        self.unschedulable = np.pad(self.unschedulable, (0, more))
        self._live = np.pad(self._live, (0, more))
        self.taints.grow(capacity)
        if self._name_ranks is not None:
            self._name_ranks.grow(capacity)
        for column in self._labels.values():
            column.grow(capacity)


def _without_times(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Remove the times of taints, so that equal taints share a code."""
    if all(taint.time_added is None for taint in taints):
        return taints
    # No filter reads the time. With it, each node that was tainted at another moment
    # would be a value of its own.
    return tuple(msgspec.structs.replace(taint, time_added=None) for taint in taints)
