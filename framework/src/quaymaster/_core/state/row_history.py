"""Which node had which row at an earlier moment."""

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from quaymaster._core.state.node_info import NodeInfo

__all__ = ["RowHistory"]

# A bound on memory: some 100 bytes each.
_LIMIT: Final = 1 << 14


class RowHistory:
    """Remembers which nodes came to a row and left it, so that rows can be named later.

    Rows are reused: who kept one of them, and a `moment`, asks here which node it was.

    Args:
        limit: How many comings and goings are remembered.

    Attributes:
        moment: How many there have been; grows with each of them.
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
        """Return the name of the node in each row that held one at a moment.

        Args:
            moment: The moment.
            now: The nodes that there are now.

        Returns:
            Row -> name; None if too many nodes have come and gone since.
        """
        missed = self.moment - moment
        if missed > len(self._moves):
            return None
        names = {info.row: info.name for info in now}
        for row, name, has_come in islice(reversed(self._moves), missed):
            if has_come:
                del names[row]
            else:
                names[row] = name
        return names
