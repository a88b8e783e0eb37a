"""What has changed since somebody looked last, for indexes that plugins keep.

Such an index is kept up to date instead of being made again: the informers have a log
for each kind of object (`Informers.changes`), and a `NodeTable` has two for its rows.
"""

from collections.abc import Collection

from quaymaster._state.change_log import ChangeLog
from quaymaster._state.node_table import NodeTable

__all__ = ["ChangeLog", "RowReader"]


class RowReader:
    """Tells which rows of a `NodeTable` changed since it was asked last."""

    __slots__ = ("_changes", "_revision")

    def __init__(self) -> None:
        self._changes: ChangeLog[int] | None = None
        self._revision = -1

    def changed(self, nodes: NodeTable) -> Collection[int]:
        """The rows that changed; all of them the first time, or for another table.

        Some may be free by now.
        """
        changes = nodes.changes
        rows: Collection[int] | None = None
        # Identity: a table and its imagined copies share one log, which others do not.
        if changes is self._changes:
            rows = changes.since(self._revision)
        self._changes, self._revision = changes, changes.revision
        return range(len(nodes.infos)) if rows is None else rows
