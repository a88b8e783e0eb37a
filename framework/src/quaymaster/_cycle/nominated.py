"""Nominated pods: other pods of the same or lower priority leave room for them.

Mirrors ``addGENominatedPods`` (Kubernetes v1.36,
``pkg/scheduler/framework/runtime/framework.go``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from quaymaster._objects import Pod
from quaymaster._state.arrays import Rows
from quaymaster._state.node_table import NodeTable

__all__ = ["Ahead", "NominatedPods", "Nominator", "nominated_ahead"]

Ahead: TypeAlias = Mapping[int, Sequence[Pod]]
"""Row -> the nominated pods that a pod must leave room for there; ascending."""


class Nominator(Protocol):
    """Knows the nominations of all pods."""

    def pods_on(self, node_name: str, /) -> Sequence[Pod]:
        """Return the pods that are nominated to a node, in the order of nomination.

        Returns:
            The same object as before if nothing has changed: `NominatedPods` then does
            not look at the pods again.
        """

    def nodes(self) -> Sequence[str]:
        """Return the names of the nodes that any pod is nominated to."""


class NominatedPods:
    """Finds the nodes where a pod must leave room for others.

    Args:
        nominator: The nominations of all pods.
        nodes: The columns of all nodes.
    """

    def __init__(self, nominator: Nominator, nodes: NodeTable) -> None:
        self._nominator = nominator
        self._nodes = nodes
        self._known: dict[str, _OnNode] = {}

    def on(self, node_name: str) -> Sequence[Pod]:
        """Return the pods that are nominated to a node."""
        return self._nominator.pods_on(node_name)

    def ahead(self, pod: Pod, rows: Rows) -> Ahead:
        """Find the rows where a pod must leave room for nominated pods."""
        names = self._nominator.nodes()
        if not names:
            self._known.clear()
            return {}
        ahead: dict[int, Sequence[Pod]] = {}
        priority, uid, row_of = pod.priority, pod.uid, self._nodes.row_of
        for name in names:
            nominated = self._on(name)
            if nominated.highest < priority:
                continue
            others = nominated.pods
            if nominated.lowest < priority or uid in nominated.uids:
                others = nominated_ahead(pod, others)
            row = row_of(name) if others else None
            if row is not None:
                ahead[row] = others
        if not ahead:
            return ahead
        # Identity: all rows come as the table's own slice; others take a set of them.
        if rows is self._nodes.rows:
            return {row: ahead[row] for row in sorted(ahead)}
        asked = set(self._nodes.row_numbers(rows).tolist())
        return {row: ahead[row] for row in sorted(ahead) if row in asked}

    def _on(self, name: str) -> "_OnNode":
        pods = self._nominator.pods_on(name)
        known = self._known.get(name)
        # Identity: see `Nominator.pods_on`. It saves looking at each nominated pod.
        if known is None or known.pods is not pods:
            known = self._known[name] = _OnNode(pods)
        return known


class _OnNode:
    """The pods that are nominated to one node; at least one."""

    __slots__ = ("highest", "lowest", "pods", "uids")

    def __init__(self, pods: Sequence[Pod]) -> None:
        self.pods = pods
        priorities = [pod.priority for pod in pods]
        self.highest = max(priorities)
        self.lowest = min(priorities)
        self.uids = [pod.uid for pod in pods]


def nominated_ahead(pod: Pod, nominated: Iterable[Pod]) -> Sequence[Pod]:
    """Return the nominated pods that a pod must leave room for."""
    return [
        other
        for other in nominated
        if other.priority >= pod.priority and other.uid != pod.uid
    ]
