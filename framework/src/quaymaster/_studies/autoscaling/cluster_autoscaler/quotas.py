"""Limits on the cores and the memory of the whole cluster.

Mirrors ``resourcequotas/tracker.go``.
"""

from collections.abc import Sequence

from quaymaster._api.objects import Node
from quaymaster._studies.autoscaling.cluster_autoscaler.capacity import (
    Capacity,
    amounts_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = ["Quota"]


class Quota:
    """How much may still be added to the cluster, or removed from it.

    Args:
        options: The limits.
        capacity: What the nodes of the cluster have.
        removes: Whether nodes are removed; by default they are added.
    """

    def __init__(
        self,
        options: ClusterAutoscalerOptions,
        capacity: Capacity,
        *,
        removes: bool = False,
    ) -> None:
        used = capacity.amounts
        limits = {"cpu": options.cores_total, "memory": options.memory_total}
        self._left = {
            name: max(0, used[name] - least if removes else most - used[name])
            for name, (least, most) in limits.items()
        }

    def allowed(self, node: Node, count: int) -> int:
        """Return how many of some nodes are within the limits."""
        for name in self.exceeded(node, count):
            count = min(count, self._left[name] // amounts_of(node)[name])
        return count

    def exceeded(self, node: Node, count: int = 1) -> Sequence[str]:
        """Return the resources of which some nodes have too much."""
        return [
            name
            for name, amount in amounts_of(node).items()
            if amount > 0 and self._left[name] < amount * count
        ]

    def consume(self, node: Node, count: int) -> bool:
        """Count some nodes, unless they exceed a limit; return whether they fit."""
        if self.exceeded(node, count):
            return False
        for name, amount in amounts_of(node).items():
            self._left[name] -= amount * count
        return True
