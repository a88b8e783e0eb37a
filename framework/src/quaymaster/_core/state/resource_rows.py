"""The rows of the resource columns: one for each resource."""

from collections.abc import Collection
from typing import Final

__all__ = ["CPU", "EPHEMERAL_STORAGE", "MEMORY", "ResourceRows"]

CPU, MEMORY, EPHEMERAL_STORAGE = 0, 1, 2
"""Rows of the resource columns that every table has; extended resources follow."""

_FIXED: Final = 3


class ResourceRows:
    """Assigns a row to each extended resource, and lists the resources of each node.

    Attributes:
        index: Extended resource -> its row.
        by_node: Row of a node -> the extended resources that it, or a pod on it, has
            or has had.
    """

    __slots__ = ("by_node", "index")

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.by_node: dict[int, set[str]] = {}

    def __len__(self) -> int:
        """Return the number of rows, including the three that every table has."""
        return _FIXED + len(self.index)

    def names_at(self, node_row: int, names: Collection[str]) -> Collection[str]:
        """Return all extended resources that a node has, or has had, a value for.

        Args:
            node_row: The row of the node.
            names: The resources that it has now; new ones get a row.
        """
        resources = self.by_node.get(node_row)
        if resources is None:
            if not names:
                return ()
            resources = self.by_node[node_row] = set()
        if not resources.issuperset(names):
            # Names stay for the node even if its pods no longer request them: the line
            # must be set back to 0 once.
            resources.update(names)
            for name in names:
                self.index.setdefault(name, len(self))
        return resources
