"""The pod garbage collector: removes pods that no kubelet will end.

Mirrors ``pkg/controller/podgc/gc_controller.go`` (Kubernetes v1.37): the pods of a node
that no longer exists, terminating pods of a node that is out of service, and
terminating pods without a node. It looks every twenty seconds.
"""

import math
from functools import partial
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodCondition, PodStatus, Time
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.node_conditions import is_not_ready
from quaymaster._clusters.inmemory.controllers.pods_per_node import PodsPerNode
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.clock import Timer

__all__ = ["PodGarbageController", "lost_with_node"]

_QUARANTINE_SECONDS: Final = 40.0  # upstream's ``quarantineTime``
_CHECK_SECONDS: Final = 20.0  # upstream's ``gcCheckPeriod``
_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_ORPHANED: Final = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByPodGC",
    message="PodGC: node no longer exists",
)


class PodGarbageController:
    """Removes pods that no kubelet will end.

    Args:
        cluster: The cluster.
        pods_on: Finds the pods of nodes; its caller updates it.
    """

    def __init__(self, cluster: ClusterAccess, pods_on: PodsPerNode) -> None:
        self._cluster = cluster
        self._pods_on = pods_on
        self._nodes = cluster.objects(Node)
        self._pods = cluster.objects(Pod)
        self._out_of_service: set[str] = set()
        self._timer: Timer | None = None

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that was created (no old), changed, or removed (no new)."""
        node = old if new is None else new
        if node is None:
            return
        if new is None:
            callback = partial(self._remove_orphans, node.name)
            # Upstream waits, too, and then asks the API server again: the informer may
            # have lagged behind a node that came back.
            self._cluster.clock.call_later(_QUARANTINE_SECONDS, callback)
        if new is not None and _is_out_of_service(new):
            self._out_of_service.add(node.name)
            self._look_later()
        else:
            self._out_of_service.discard(node.name)

    def pod_terminates(self, pod: Pod) -> None:
        """Handle a pod that has been marked as deleted."""
        if not pod.node_name or pod.node_name in self._out_of_service:
            self._look_later()

    def _look_later(self) -> None:
        if self._timer is None:
            clock = self._cluster.clock
            # At whole multiples, since upstream looks at its own pace, whatever
            # happens.
            turns = math.floor(clock.now() / _CHECK_SECONDS) + 1
            self._timer = clock.call_at(turns * _CHECK_SECONDS, self._look)

    def _look(self) -> None:
        """Remove terminating pods that no kubelet ends."""
        self._timer = None
        # A copy, since each removal changes the mapping.
        for pod in list(self._pods.values()):
            if pod.is_terminating and (
                not pod.node_name or pod.node_name in self._out_of_service
            ):
                self._remove(pod)

    def _remove_orphans(self, node_name: str) -> None:
        """Remove the pods of a lost node, unless the node is back."""
        if node_name in self._nodes:
            return
        for pod in [self._pods[key] for key in self._pods_on.keys_on([node_name])]:
            self._remove(pod, _ORPHANED)

    def _remove(self, pod: Pod, condition: PodCondition | None = None) -> None:
        """Mark a pod as failed and delete it, without a grace period."""
        # A phase is final, so a pod that has succeeded is not marked as failed.
        if not pod.is_finished:
            now = Time(self._cluster.clock.now())
            status = _failed(pod.status, condition, now)
            pod = self._cluster.change(pod, replace(pod, status=status))
        self._cluster.delete(pod, 0.0)


def lost_with_node(status: PodStatus, now: Time) -> PodStatus:
    """Return the status that a pod of a lost node gets before it is deleted."""
    return _failed(status, _ORPHANED, now)


def _failed(status: PodStatus, condition: PodCondition | None, now: Time) -> PodStatus:
    conditions = status.conditions
    # Only lost nodes give a reason for the disruption (``markFailedAndDeletePod``).
    if condition is not None:
        conditions = with_condition(conditions, condition, now)
    return replace(status, phase="Failed", conditions=conditions)


def _is_out_of_service(node: Node) -> bool:
    keys = (taint.key for taint in node.spec.taints)
    # The taint alone may come from a mistake: a node that is ready still has a kubelet
    # that ends pods itself.
    return _OUT_OF_SERVICE in keys and is_not_ready(node)
