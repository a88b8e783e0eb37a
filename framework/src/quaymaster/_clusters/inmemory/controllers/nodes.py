"""The controllers of nodes, and those that remove pods because of their nodes."""

from quaymaster._api.objects import Node, Pod
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.garbage import PodGarbageController
from quaymaster._clusters.inmemory.controllers.node_monitor import NodeMonitor
from quaymaster._clusters.inmemory.controllers.node_taints import NodeTaintController
from quaymaster._clusters.inmemory.controllers.pods_per_node import PodsPerNode
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)
from quaymaster._clusters.inmemory.controllers.taint_evictions import (
    TaintEvictionController,
)

__all__ = ["NodeControllers"]


class NodeControllers:
    """Taints nodes, evicts pods from tainted ones, and removes pods of lost ones.

    Args:
        cluster: The cluster.
        repeats: Counts the evictions.

    Attributes:
        taints: Writes the taints of the effect NoSchedule.
        monitor: Writes the taints of the effect NoExecute.
    """

    def __init__(self, cluster: ClusterAccess, repeats: RepeatedEvictions) -> None:
        self.taints = NodeTaintController(cluster)
        self.monitor = NodeMonitor(cluster)
        self._pods_on = PodsPerNode()
        self._evictions = TaintEvictionController(
            cluster, self.monitor.pod_evicted, repeats, self._pods_on
        )
        self._garbage = PodGarbageController(cluster, self._pods_on)

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that was created (no old), changed, or removed (no new)."""
        self._evictions.node_changed(old, new)
        self.monitor.node_changed(old, new)
        self._garbage.node_changed(old, new)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created (no old), changed, or removed (no new)."""
        # Pods without a node concern none of these, and schedulers patch them often.
        if (
            old is not None
            and new is not None
            and not old.node_name
            and not new.node_name
            # Identity: most updates share the time; the others are looked at below.
            and old.metadata.deletion_timestamp is new.metadata.deletion_timestamp
        ):
            return
        self._pods_on.pod_changed(old, new)
        self._evictions.pod_changed(old, new)
        if (
            new is not None
            and new.metadata.deletion_timestamp is not None
            and (old is None or old.metadata.deletion_timestamp is None)
        ):
            self._garbage.pod_terminates(new)
