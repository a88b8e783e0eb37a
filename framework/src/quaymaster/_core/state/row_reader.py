"""Reads the changed rows for the indexes of plugins.

Such an index is updated instead of being built again: the informers have a log for each
kind of object (`Informers.changes`), and a `NodeTable` has two for its rows.
"""

from collections.abc import Collection

from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_table import NodeTable

__all__ = ["ChangeLog", "RowReader"]


class RowReader:
    """Returns the rows of a `NodeTable` that have changed since the last call."""

    __slots__ = ("_changes", "_revision")

    def __init__(self) -> None:
        self._changes: ChangeLog[int] | None = None
        self._revision = -1

    def changed(self, nodes: NodeTable) -> Collection[int]:
        """Return the changed rows; all rows the first time, or for another table.

        Some of them may be free now.
        """
        changes = nodes.changes
        rows: Collection[int] | None = None
        # Identity: a table and its trial copies share one log; other tables do not.
        if changes is self._changes:
            rows = changes.since(self._revision)
        self._changes, self._revision = changes, changes.revision
        return range(len(nodes.infos)) if rows is None else rows
