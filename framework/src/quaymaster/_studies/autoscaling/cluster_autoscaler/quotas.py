"""Limits on the cores and the memory of the whole cluster.

Mirrors ``resourcequotas/tracker.go``.
"""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster._api.objects import Node
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = ["Quota"]


class Quota:
    """How much may still be added to the cluster, or removed from it.

    Args:
        options: The limits.
        nodes: The nodes of the cluster.
        removes: Whether nodes are removed; by default they are added.
    """

    def __init__(
        self,
        options: ClusterAutoscalerOptions,
        nodes: Iterable[Node],
        *,
        removes: bool = False,
    ) -> None:
        used: dict[str, int] = {"cpu": 0, "memory": 0}
        for node in nodes:
            for name, amount in _amounts(node).items():
                used[name] += amount
        limits = {"cpu": options.cores_total, "memory": options.memory_total}
        self._left = {
            name: max(0, used[name] - least if removes else most - used[name])
            for name, (least, most) in limits.items()
        }

    def allowed(self, node: Node, count: int) -> int:
        """Return how many of some nodes are within the limits."""
        for name in self.exceeded(node, count):
            count = min(count, self._left[name] // _amounts(node)[name])
        return count

    def exceeded(self, node: Node, count: int = 1) -> Sequence[str]:
        """Return the resources of which some nodes have too much."""
        return [
            name
            for name, amount in _amounts(node).items()
            if amount > 0 and self._left[name] < amount * count
        ]

    def consume(self, node: Node, count: int) -> bool:
        """Count some nodes, unless they exceed a limit; return whether they fit."""
        if self.exceeded(node, count):
            return False
        for name, amount in _amounts(node).items():
            self._left[name] -= amount * count
        return True


def _amounts(node: Node) -> Mapping[str, int]:
    capacity = node.status.capacity
    return {
        name: max(0, capacity[name].value) if name in capacity else 0
        for name in ("cpu", "memory")
    }
