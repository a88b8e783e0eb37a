"""Taints that keep pods off nodes that may be removed soon.

Mirrors ``core/scaledown/actuation/softtaint.go``.
"""

from collections.abc import Container, Sequence

from msgspec.structs import replace

from quaymaster._api.objects import Node, Taint
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    DELETION_CANDIDATE,
    TO_BE_DELETED,
    has_taint,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = ["SoftTaints"]


class SoftTaints:
    """Marks the nodes that are not needed, so that pods avoid them.

    Args:
        cluster: The cluster.
        cloud: The groups.
        options: The options; they limit how many nodes a loop changes.
    """

    def __init__(
        self, cluster: InMemoryCluster, cloud: Cloud, options: ClusterAutoscalerOptions
    ) -> None:
        self._cluster = cluster
        self._cloud = cloud
        self._limit = options.max_bulk_soft_taint_count

    def update(
        self, nodes: Sequence[Node], unneeded: Container[str], now: float
    ) -> None:
        """Change the marks of some nodes, first those that are needed again.

        Args:
            nodes: The nodes.
            unneeded: The names of the nodes that are not needed.
            now: The time, in seconds since the Unix epoch.
        """
        own = [node for node in nodes if self._cloud.group_of(node.name)]
        needed = [node for node in own if node.name not in unneeded]
        others = [node for node in own if node.name in unneeded]
        left = self._limit
        for node in [*needed, *others]:
            is_needed = node.name not in unneeded
            is_marked = has_taint(node, DELETION_CANDIDATE)
            if has_taint(node, TO_BE_DELETED) or is_needed != is_marked:
                continue
            if left <= 0:
                return
            left -= 1
            self._mark(node.name, now, is_set=not is_needed)

    def _mark(self, name: str, now: float, *, is_set: bool) -> None:
        node = self._cluster.get(Node, name)
        taints = tuple(
            taint for taint in node.spec.taints if taint.key != DELETION_CANDIDATE
        )
        if is_set:
            taint = Taint(
                key=DELETION_CANDIDATE, value=str(int(now)), effect="PreferNoSchedule"
            )
            taints = (*taints, taint)
        self._cluster.update(replace(node, spec=replace(node.spec, taints=taints)))
