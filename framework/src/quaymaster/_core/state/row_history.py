"""The nodes that had each row at an earlier moment."""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from quaymaster._core.state.node_info import NodeInfo

__all__ = ["RowHistory"]

# A bound on memory: some 100 bytes each.
_LIMIT: Final = 1 << 14


class RowHistory:
    """Keeps the nodes that got and left each row, so that rows can be named later.

    Rows are reused. With a row and a `moment`, a reader gets the node of that time.

    Args:
        limit: The number of changes to keep.

    Attributes:
        moment: The number of changes so far.
    """

    __slots__ = ("_moves", "moment")

    def __init__(self, limit: int = _LIMIT) -> None:
        self.moment = 0
        self._moves: deque[tuple[int, str, bool]] = deque(maxlen=limit)

    def came(self, row: int, name: str) -> None:
        """Note that a node got a row."""
        self.moment += 1
        self._moves.append((row, name, True))

    def went(self, row: int, name: str) -> None:
        """Note that a node left its row."""
        self.moment += 1
        self._moves.append((row, name, False))

    def names_at(self, moment: int, now: Iterable[NodeInfo]) -> dict[int, str] | None:
        """Return the names of the nodes in all rows at a moment.

        Args:
            moment: The moment.
            now: The current nodes.

        Returns:
            Row -> name; None if too many nodes were added and removed since.
        """
        missed = self.moment - moment
        if missed > len(self._moves):
            return None
        names = {info.row: info.name for info in now}
        for row, name, has_come in islice(reversed(self._moves), missed):
            # Backwards in time: a node that came was not there before, and one that
            # left was.
            if has_come:
                del names[row]
            else:
                names[row] = name
        return names
