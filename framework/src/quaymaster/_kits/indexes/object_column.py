"""A column of values that are read from objects named like nodes.

A CSINode, for example, has the name of its node. To read it for each of thousands of
nodes takes longer than all arithmetic on columns, so it is read once per change.
"""

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.informers import Informers
from quaymaster._core.state.coded_column import CodedColumn
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.row_reader import RowReader

__all__ = ["ObjectColumn"]

ObjT = TypeVar("ObjT", bound=ApiObject)
V = TypeVar("V")


class ObjectColumn(Generic[ObjT, V]):
    """A column made of the objects of one kind that are named like nodes.

    Args:
        informers: The engine's copy of the cluster.
        kind: The class of the objects.
        read: Returns the value of an object, which is hashable; None is like no object.

    Attributes:
        revision: Grows with every change of a row.
    """

    def __init__(
        self, informers: Informers, kind: type[ObjT], read: Callable[[ObjT], V | None]
    ) -> None:
        self._informers = informers
        self._kind = kind
        self._read = read
        self._object_revision = -1
        self._reader = RowReader()
        self._nodes: object = None
        self._node_revision = -1
        self._names: list[str] = []
        self._column: CodedColumn[V] = CodedColumn(0)
        self.revision = 0

    def of(self, nodes: NodeTable) -> CodedColumn[V]:
        """Return the column, up to date, with one row for each of the table's rows."""
        # Identity: a table and its imagined copies share one list of nodes.
        if nodes.infos is not self._nodes:
            self._start(nodes)
        try:
            self._sync(nodes)
        except BaseException:
            self._nodes = None  # what has not been read is read next time
            raise
        return self._column

    def _start(self, nodes: NodeTable) -> None:
        self._nodes, self._names = nodes.infos, []
        self._node_revision = self._object_revision = -1
        self._reader = RowReader()
        self._column = CodedColumn(nodes.capacity)
        self.revision += 1

    def _sync(self, nodes: NodeTable) -> None:
        log = self._informers.changes(self._kind)
        if log.revision != self._object_revision:
            self._take_over(nodes, log.since(self._object_revision))
            self._object_revision = log.revision
        revision = nodes.node_changes.revision
        if revision != self._node_revision:
            self._follow_rows(nodes)
            self._node_revision = revision

    def _take_over(self, nodes: NodeTable, names: Collection[str] | None) -> None:
        """Read the objects with these names again; all of them if that is None."""
        if names is None:
            names = [info.name for info in nodes]
        for name in names:
            row = nodes.row_of(name)
            if row is not None and row < len(self._names):
                self._write(row, name)

    def _follow_rows(self, nodes: NodeTable) -> None:
        """Read the objects of rows that have another node than before."""
        if len(self._column.codes) < nodes.capacity:
            self._column.grow(nodes.capacity)
            self.revision += 1
        length = len(self._names)
        self._names += [""] * (len(nodes.infos) - length)
        for row in self._reader.changed(nodes):
            info = nodes.infos[row]
            name = "" if info is None else info.name
            if name != self._names[row]:
                self._write(row, name)

    def _write(self, row: int, name: str) -> None:
        self._names[row] = name
        self.revision += 1
        obj = self._informers.get(self._kind, name) if name else None
        self._column.set(row, None if obj is None else self._read(obj))
