"""Nominated pods: other pods of the same or lower priority leave room for them.

Mirrors ``addGENominatedPods`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.nominated_rows import NominatedRows
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Ahead", "NominatedPods", "Nominator", "nominated_ahead"]

Ahead: TypeAlias = Mapping[int, Sequence[Pod]]
"""Row -> the nominated pods that a pod must leave room for there; ascending."""

# Chosen, not measured: the priorities of pods for which nominations are followed.
_MOST_PRIORITIES: Final = 16

_NOBODY: Final[Ahead] = {}


class Nominator(Protocol):
    """Knows the nominations of all pods."""

    @property
    def changes(self) -> ChangeLog[str]:
        """The names of the nodes whose nominated pods have changed."""

    def pods_on(self, node_name: str, /) -> Sequence[Pod]:
        """Return the pods that are nominated to a node, in the order of nomination.

        Returns:
            The same object as before if nothing has changed.
        """

    @property
    def is_empty(self) -> bool:
        """Whether no pod is nominated to any node."""

    def nodes(self) -> Sequence[str]:
        """Return the names of the nodes that any pod is nominated to."""


class NominatedPods:
    """Finds the nodes where a pod must leave room for others.

    What is found is kept for each priority, and only nodes that have changed, or whose
    nominations have, are looked at again.

    Args:
        nominator: The nominations of all pods.
        nodes: The columns of all nodes.

    Attributes:
        nodes: The same.
    """

    def __init__(self, nominator: Nominator, nodes: NodeTable) -> None:
        self._nominator = nominator
        self.nodes = nodes
        self._by_priority: dict[int, NominatedRows] = {}

    def on(self, node_name: str) -> Sequence[Pod]:
        """Return the pods that are nominated to a node."""
        return self._nominator.pods_on(node_name)

    def ahead(self, pod: Pod, rows: Rows) -> Ahead:
        """Find the rows where a pod must leave room for nominated pods."""
        # Mostly there are none, nor have been: that is found out without a call more.
        if not self._by_priority and self._nominator.is_empty:
            return _NOBODY
        known = self.followed(pod)
        if known is None:
            return _NOBODY
        ahead = known.others(pod.uid)
        # Identity: all rows come as the table's own slice; others take a set of them.
        if not ahead or rows is self.nodes.rows:
            return ahead
        asked = set(self.nodes.row_numbers(rows).tolist())
        return {row: others for row, others in ahead.items() if row in asked}

    def imagined(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        """Count the pods that a pod must leave room for in on a copy of the table.

        Returns:
            The table, and which rows have such pods, shape ``(C,)``. None if one of
            them requests what the table has no column for.
        """
        known = self.followed(pod)
        return None if known is None else known.imagined(pod.uid)

    def followed(self, pod: Pod) -> NominatedRows | None:
        """Return the rows with pods that are no less important, up to date.

        None as long as there are no such rows, nor have been since a pod of that
        priority was looked at.
        """
        known, priority = self._by_priority, pod.priority
        found = known.get(priority)
        if found is None and self._nominator.is_empty:
            return None
        if found is None or not found.has_shape_of(self.nodes):
            known.pop(priority, None)
            if len(known) >= _MOST_PRIORITIES:
                del known[next(iter(known))]
            found = known[priority] = NominatedRows(priority, self.nodes)
        found.follow(self._nominator)
        return found


def nominated_ahead(pod: Pod, nominated: Iterable[Pod]) -> Sequence[Pod]:
    """Return the nominated pods that a pod must leave room for."""
    return [
        other
        for other in nominated
        if other.priority >= pod.priority and other.uid != pod.uid
    ]
