"""What has changed since somebody looked last.

For indexes that are kept up to date instead of being made again: the informers have a
log for each kind of object (`Informers.changes`), a `NodeTable` has one for its rows.
"""

from collections.abc import Collection

from quaymaster.node_table import NodeTable

__all__ = ["ChangeLog", "RowReader"]

_LIMIT = 1 << 16


class ChangeLog:
    """The keys of objects that came, changed and went, in order.

    Whoever reads it remembers a `position`, and asks later what came `since`. Only the
    last changes are kept, so a reader that comes too late starts all over.

    Args:
        limit: How many changes are kept at least.
    """

    __slots__ = ("_entries", "_limit", "_start")

    def __init__(self, limit: int = _LIMIT) -> None:
        self._entries: list[tuple[str, bool]] = []
        self._limit = limit
        self._start = 0

    @property
    def position(self) -> int:
        """How many changes there have been."""
        return self._start + len(self._entries)

    def since(self, position: int) -> Collection[str] | None:
        """The keys of what changed after an earlier `position`, each once.

        Those of new objects are in the order of their arrival.

        Returns:
            None if that is too long ago: take it that everything changed.
        """
        start = position - self._start
        if start < 0:
            return None
        if start == len(self._entries):
            return ()
        keys: dict[str, None] = {}
        for key, is_new in self._entries[start:]:
            if is_new:
                keys.pop(key, None)
            keys[key] = None
        return keys

    def note(self, key: str, *, is_new: bool = False) -> None:
        """Write down that an object came, changed or went.

        Args:
            key: Its key.
            is_new: Whether it came.
        """
        self._entries.append((key, is_new))
        if len(self._entries) > 2 * self._limit:
            del self._entries[: self._limit]
            self._start += self._limit


class RowReader:
    """Tells which rows of a `NodeTable` changed since it was asked last."""

    __slots__ = ("_infos", "_position")

    def __init__(self) -> None:
        self._infos: object = None
        self._position = -1

    def changed(self, nodes: NodeTable) -> Collection[int]:
        """The rows that changed; all of them the first time, or for another table.

        Some may be free by now.
        """
        moved: Collection[int] | None = None
        if nodes.infos is self._infos:  # so it is for copies, too
            moved = nodes.moved_since(self._position)
        self._infos, self._position = nodes.infos, nodes.position
        return range(len(nodes.infos)) if moved is None else moved
