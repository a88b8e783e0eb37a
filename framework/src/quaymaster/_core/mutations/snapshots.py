"""Copies of nodes, columns and counts, made before a hook is called."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from quaymaster._core.state.coded_column import CodedColumn
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["SavedArray", "SavedNode", "SavedSnapshot", "SavedTable"]


class SavedNode:
    """The saved contents of a `NodeInfo`."""

    def __init__(self, info: NodeInfo) -> None:
        self._info = info
        self._fields: dict[str, Any] = {
            "node": info.node,
            "row": info.row,
            "pods": dict(info.pods),
            "allocatable": info.allocatable.copy(),
            "requested": info.requested.copy(),
            "non_zero_milli_cpu": info.non_zero_milli_cpu,
            "non_zero_memory": info.non_zero_memory,
            "used_ports": info.used_ports.clone(),
            "images": dict(info.images),
        }
        self._name = info.name

    def restore(self) -> Iterator[str]:
        """Restore the changed fields, and yield their names."""
        for field, saved in self._fields.items():
            if getattr(self._info, field) != saved:
                setattr(self._info, field, saved)
                yield f"{field} of node '{self._name}'"


class SavedArray:
    """The saved contents of an array."""

    def __init__(self, name: str, array: "np.ndarray[Any, Any]") -> None:
        self._name = name
        self._array = array
        self._saved = array.copy()
        self._writeable = array.flags.writeable

    @property
    def array(self) -> "np.ndarray[Any, Any]":
        """The array itself."""
        return self._array

    def restore(self) -> Iterator[str]:
        """Restore the array if it has changed, and yield its name."""
        array = self._array
        if array.flags.writeable != self._writeable:
            array.flags.writeable = self._writeable
            yield self._name
        if not np.array_equal(array, self._saved):
            array[...] = self._saved
            yield self._name


_ARRAYS: Final = (
    "allocatable",
    "requested",
    "non_zero_requested",
    "pod_count",
    "allowed_pods",
    "unschedulable",
)


class SavedTable:
    """The saved columns of a `NodeTable`."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._arrays = [
            (name, SavedArray(f"column '{name}'", getattr(table, name)))
            for name in _ARRAYS
        ]
        self._coded = [_SavedCodes("column 'taints'", table.taints)]
        self._coded += [
            _SavedCodes(f"column of label '{key}'", column)
            for key, column in table.label_columns().items()
        ]
        self._infos = list(table.infos)
        self._image_rows = {
            name: (state, state.size_bytes, set(state.rows))
            for name, state in table.images.items()
        }

    def restore(self) -> Iterator[str]:
        """Restore the changed columns, and yield their names."""
        table = self._table
        for name, saved in self._arrays:
            yield from saved.restore()
            # Identity: other parts of the framework refer to the original array.
            if getattr(table, name) is not saved.array:
                setattr(table, name, saved.array)
                yield f"column '{name}'"
        for codes in self._coded:
            yield from codes.restore()
        if table.infos != self._infos:
            table.infos[:] = self._infos
            yield "list of nodes"
        yield from self._restore_images()

    def _restore_images(self) -> Iterator[str]:
        images, saved = self._table.images, self._image_rows
        if images.keys() != saved.keys():
            images.clear()
            images.update((name, state) for name, (state, _, _) in saved.items())
            yield "images"
        for name, (state, size, rows) in saved.items():
            if state.size_bytes != size or state.rows != rows:
                state.size_bytes, state.rows = size, rows
                yield f"image '{name}'"


class _SavedCodes:
    def __init__(self, name: str, column: CodedColumn[Any]) -> None:
        self._name = name
        self._column = column
        self._codes = SavedArray(name, column.codes)
        self._values = list(column.values)

    def restore(self) -> Iterator[str]:
        yield from self._codes.restore()
        column = self._column
        # Identity: a hook may have replaced the array of codes.
        if column.values != self._values or column.codes is not self._codes.array:
            column.codes = self._codes.array
            column.values[:] = self._values
            yield self._name


class SavedSnapshot:
    """The saved contents of a `Snapshot`, without its nodes."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._claims = snapshot.claims.contents()
        self._counts = snapshot.counts.contents()

    def restore(self) -> Iterator[str]:
        """Restore the changed contents, and yield their names."""
        snapshot = self._snapshot
        if snapshot.claims.contents() != self._claims:
            snapshot.claims.restore(self._claims)
            yield "users of claims"
        # Counts are computed on first use: new ones are not changes.
        now = snapshot.counts.contents()
        if any(now.get(key, saved) != saved for key, saved in self._counts.items()):
            snapshot.counts.forget()
            yield "counts of pods"
