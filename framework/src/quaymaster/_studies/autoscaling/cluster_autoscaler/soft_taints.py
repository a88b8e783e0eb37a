"""Taints that keep pods off nodes that may be removed soon.

Mirrors ``core/scaledown/actuation/softtaint.go``.
"""

from collections.abc import Container, Set

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
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
    in_order,
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
        self,
        seen: SeenCluster,
        starting: Container[str],
        unneeded: Set[str],
        now: float,
    ) -> None:
        """Change the marks of some nodes, first those that are needed again.

        Args:
            seen: The nodes.
            starting: The names of the nodes that are starting.
            unneeded: The names of the nodes that are not needed.
            now: The time, in seconds since the Unix epoch.
        """
        needed_again = [
            each
            for name in seen.marked.keys() - unneeded
            if (each := seen.marked[name]).group and name not in starting
        ]
        no_longer_needed = [
            each
            for name in unneeded - seen.marked.keys()
            if (each := seen.nodes[name]).group
        ]
        left = self._limit
        for each in (*in_order(needed_again), *in_order(no_longer_needed)):
            if has_taint(each.node, TO_BE_DELETED):
                continue
            if left <= 0:
                return
            left -= 1
            self._mark(each.name, now, is_set=not each.is_marked)

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
