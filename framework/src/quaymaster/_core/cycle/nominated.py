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

_NO_PODS: Final[Ahead] = {}


class Nominator(Protocol):
    """Has the nominations of all pods."""

    @property
    def changes(self) -> ChangeLog[str]:
        """The names of the nodes whose nominated pods have changed."""

    def pods_on(self, node_name: str, /) -> Sequence[Pod]:
        """Return the pods that are nominated to a node, in the order of nomination.

        Returns:
            The pods; the same object as before if nothing has changed.
        """

    @property
    def is_empty(self) -> bool:
        """Whether no pod is nominated to any node."""

    def nodes(self) -> Sequence[str]:
        """Return the names of the nodes that any pod is nominated to."""


class NominatedPods:
    """Finds the nodes where a pod must leave room for others.

    The nodes are cached for each priority. Only nodes that have changed, or whose
    nominations have changed, are read again.

    Args:
        nominator: The nominations of all pods.
        nodes: The columns of all nodes.

    Attributes:
        nodes: The columns of all nodes.
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
        # Mostly no pod is nominated, and none has been: then no call is needed.
        if not self._by_priority and self._nominator.is_empty:
            return _NO_PODS
        nominated_rows = self.followed(pod)
        if nominated_rows is None:
            return _NO_PODS
        ahead = nominated_rows.others(pod.uid)
        # Identity: "all rows" is the table's own object, and needs no set of rows.
        if not ahead or rows is self.nodes.rows:
            return ahead
        numbers = set(self.nodes.row_numbers(rows).tolist())
        return {row: others for row, others in ahead.items() if row in numbers}

    def imagined(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        """Add the pods that a pod must leave room for to a copy of the table.

        Returns:
            The table, and a flag for each row with such pods, shape ``(C,)``. None if
            one of them requests a resource for which the table has no column.
        """
        nominated_rows = self.followed(pod)
        return None if nominated_rows is None else nominated_rows.imagined(pod.uid)

    def followed(self, pod: Pod) -> NominatedRows | None:
        """Return the rows with nominated pods of the same or a higher priority.

        The rows are up to date. None if no pod is nominated, and none was at an earlier
        call for the same priority.
        """
        by_priority, priority = self._by_priority, pod.priority
        rows = by_priority.get(priority)
        if rows is None and self._nominator.is_empty:
            return None
        if rows is None or not rows.has_shape_of(self.nodes):
            by_priority.pop(priority, None)
            if len(by_priority) >= _MOST_PRIORITIES:
                # The oldest one goes: priorities are mostly few, but any pod may bring
                # another.
                del by_priority[next(iter(by_priority))]
            rows = by_priority[priority] = NominatedRows(priority, self.nodes)
        rows.follow(self._nominator)
        return rows


def nominated_ahead(pod: Pod, nominated: Iterable[Pod]) -> Sequence[Pod]:
    """Return the nominated pods that a pod must leave room for."""
    return [
        other
        for other in nominated
        if other.priority >= pod.priority and other.uid != pod.uid
    ]
