"""The empty nodes that are not needed, which no loop looks at until they change.

With hundreds of nodes that wait for their time to be removed, to look at each of them
took most of a loop. Only the end of that time is due once.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from heapq import heappop, heappush

import attrs

from quaymaster._studies.autoscaling.cluster_autoscaler.removal import Removable

__all__ = ["IdleNodes", "Unneeded"]


@attrs.define(eq=False)
class Unneeded:
    """A node that is not needed.

    Attributes:
        removable: The node with its pods.
        since: Since when each loop has found that.
        end: Until when it stays in any case.
    """

    removable: Removable
    since: float
    end: float

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.removable.node.metadata.name

    @property
    def has_moving_pods(self) -> bool:
        """Whether its pods must move."""
        return bool(self.removable.drain.moving)


class IdleNodes:
    """Keeps nodes in the order of the cluster's list.

    Attributes:
        due: The nodes whose time has ended, with their places in that order.
    """

    def __init__(self) -> None:
        self.due: dict[str, tuple[int, Unneeded]] = {}
        self._nodes: dict[str, tuple[int, Unneeded]] = {}
        self._order: list[tuple[int, str]] = []
        self._ends: list[tuple[float, int, str]] = []
        self._new: list[str] = []

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        """Yield the names, in order."""
        return (name for _, name in self._order)

    def numbered(self) -> Iterator[tuple[int, Unneeded]]:
        """Yield all nodes with their places in the order of the cluster's list."""
        return (self._nodes[name] for _, name in self._order)

    def add(self, name: str, number: int, unneeded: Unneeded) -> None:
        """Add a node with its place in the order of the cluster's list."""
        self._nodes[name] = number, unneeded
        insort(self._order, (number, name))
        heappush(self._ends, (unneeded.end, number, name))
        self._new.append(name)

    def drop(self, name: str) -> Unneeded | None:
        """Remove a node, and return it; None if it is not here."""
        if name not in self._nodes:
            return None
        number, unneeded = self._nodes.pop(name)
        del self._order[bisect_left(self._order, (number, name))]
        self.due.pop(name, None)
        return unneeded

    def clear(self) -> None:
        """Remove all nodes."""
        self.due.clear()
        self._nodes.clear()
        self._order.clear()
        self._ends.clear()
        self._new.clear()

    def take_new(self) -> Iterator[Unneeded]:
        """Yield the nodes that were added since the last call and are not due."""
        new, self._new = self._new, []
        for name in new:
            if name in self._nodes and name not in self.due:
                yield self._nodes[name][1]

    def note_due(self, now: float) -> None:
        """Note the nodes whose time has ended: they are due."""
        while self._ends and self._ends[0][0] < now:
            end, _, name = heappop(self._ends)
            if self._waits(name, end):
                self.due[name] = self._nodes[name]

    def waiting(self) -> Iterator[Unneeded]:
        """Yield the nodes that are not due."""
        return (each for name, (_, each) in self._nodes.items() if name not in self.due)

    def next_end(self) -> float | None:
        """Return when the next node is due, or None."""
        while self._ends and not self._waits(self._ends[0][2], self._ends[0][0]):
            heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def _waits(self, name: str, end: float) -> bool:
        """Whether a node is not due before this time; it may have come back."""
        if name not in self._nodes or name in self.due:
            return False
        return self._nodes[name][1].end == end
