"""The machines of a state in order, and which of them differ from an earlier state.

A cluster of thousands of machines is read some times a minute, and few of them have
changed. What is computed of all of them is brought up to date by the changes alone.
"""

from collections.abc import Iterator, Sequence
from typing import Final, overload

from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = ["ListedNodes", "NodeLog"]

_KEPT: Final = 1000


class NodeLog:
    """The changes of machines, the latest ones of which are kept.

    Attributes:
        end: The number of all changes so far.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[StateNode | None, StateNode | None]] = []
        self.end = 0

    def add(self, before: StateNode | None, after: StateNode | None) -> None:
        """Add a change: None for a machine that was not there or is gone."""
        self._changes.append((before, after))
        self.end += 1

    def tidy(self, count: int) -> None:
        """Forget old changes, if there are far more than machines.

        Args:
            count: The number of machines.
        """
        most = count + _KEPT
        if len(self._changes) > 2 * most:
            del self._changes[:-most]

    def between(
        self, begin: int, end: int
    ) -> Sequence[tuple[StateNode | None, StateNode | None]] | None:
        """Return the changes from one number to another, or None if they are gone."""
        first = self.end - len(self._changes)
        if not first <= begin <= end:
            return None
        return self._changes[begin - first : end - first]


class ListedNodes(Sequence[StateNode]):
    """Machines in the order of the API server; they do not change.

    Args:
        nodes: The machines.
        log: All changes of the cluster; by default there are none.
    """

    def __init__(self, nodes: Sequence[StateNode], log: NodeLog | None = None) -> None:
        self._nodes = nodes
        self._log = NodeLog() if log is None else log
        self._end = self._log.end

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[StateNode]:
        return iter(self._nodes)

    @overload
    def __getitem__(self, place: int) -> StateNode: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[StateNode]: ...

    def __getitem__(self, place: int | slice) -> StateNode | Sequence[StateNode]:
        return self._nodes[place]

    def changes_since(
        self, earlier: "ListedNodes"
    ) -> tuple[set[StateNode], set[StateNode]]:
        """Return the machines of other ones that are gone, and those that are new.

        Args:
            earlier: The other machines; of an earlier state, this is fast.
        """
        changes = None
        # Identity: lists of one cluster share its log.
        if earlier._log is self._log:
            changes = self._log.between(earlier._end, self._end)
        if changes is None:
            ours, theirs = {*self._nodes}, {*earlier._nodes}
            return theirs - ours, ours - theirs
        gone: set[StateNode] = set()
        new: set[StateNode] = set()
        for before, after in changes:
            if before is not None:
                (gone.add if before not in new else new.discard)(before)
            if after is not None:
                (new.add if after not in gone else gone.discard)(after)
        return gone, new
