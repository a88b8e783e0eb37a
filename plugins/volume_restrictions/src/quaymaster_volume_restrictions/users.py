"""Maintain the rows on which pods mount disks."""

from collections.abc import Hashable, Iterable

from quaymaster import NodeInfo, NodeTable
from quaymaster.columns import RowReader
from quaymaster.objects import Volume
from quaymaster.volumes import volumes_of
from quaymaster_volume_restrictions.disks import disk_keys

__all__ = ["DiskUsers"]

_NONE: frozenset[Hashable] = frozenset()


class DiskUsers:
    """Maintains the rows of nodes with mounted disks that cannot be shared."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._rows: dict[Hashable, dict[int, None]] = {}
        self._on_row: dict[int, frozenset[Hashable]] = {}

    def rows(self, disks: Iterable[Volume], nodes: NodeTable) -> list[int]:
        """Return the rows where pods mount any of some disks, ascending."""
        for row in self._reader.changed(nodes):
            self._follow(row, _keys_on(nodes.infos[row]))
        rows: dict[int, None] = {}
        for key in disk_keys(disks):
            rows |= self._rows.get(key, {})
        return sorted(rows)

    def _follow(self, row: int, keys: frozenset[Hashable]) -> None:
        counts = self._on_row.pop(row, _NONE)
        if keys:
            self._on_row[row] = keys
        for key in counts - keys:
            rows = self._rows[key]
            del rows[row]
            if not rows:
                del self._rows[key]
        for key in keys - counts:
            self._rows.setdefault(key, {})[row] = None


def _keys_on(info: NodeInfo | None) -> frozenset[Hashable]:
    if info is None:
        return _NONE
    return frozenset(
        key
        for pod in info.pods.values()
        if pod.spec.volumes
        for key in disk_keys(volumes_of(pod))
    )
