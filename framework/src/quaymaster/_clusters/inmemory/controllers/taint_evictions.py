"""Evicts pods from nodes with a taint of the effect NoExecute.

Mirrors ``pkg/controller/tainteviction/taint_eviction.go`` (Kubernetes v1.37). A pod
that does not tolerate all such taints of its node is deleted at once; otherwise when
the shortest of the tolerations that it uses ends. Budgets do not protect it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodCondition, Taint, Time, Toleration
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS, tolerates
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.node_conditions import no_execute_taints
from quaymaster._clusters.inmemory.controllers.pods_per_node import PodsPerNode
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.clock import Timer

__all__ = ["TaintEvictionController"]

_DISRUPTED: Final = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByTaintManager",
    message="Taint manager: deleting due to NoExecute taint",
)


class _Eviction(msgspec.Struct, frozen=True):
    """An eviction that waits for the end of a toleration."""

    scheduled_at: float
    timer: Timer


class TaintEvictionController:
    """Deletes pods whose nodes have taints that they do not tolerate.

    Args:
        cluster: The cluster.
        on_eviction: Called with each pod before it is deleted.
        repeats: Counts the evictions.
        pods_on: Finds the pods of nodes; its caller updates it.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        on_eviction: Callable[[Pod], None],
        repeats: RepeatedEvictions,
        pods_on: PodsPerNode,
    ) -> None:
        self._cluster = cluster
        self._pods_on = pods_on
        self._on_eviction = on_eviction
        self._repeats = repeats
        self._compares = cluster.kubernetes.enabled(TOLERATION_COMPARISONS)
        self._pods = cluster.objects(Pod)
        # The NoExecute taints of the nodes that have any.
        self._taints: dict[str, tuple[Taint, ...]] = {}
        self._evictions: dict[str, _Eviction] = {}
        self._changed_nodes: dict[str, None] = {}
        self._changed_pods: dict[str, None] = {}
        self._timer: Timer | None = None

    @property
    def _is_idle(self) -> bool:
        """Whether no node has such a taint and no pod has a deadline."""
        return not self._taints and not self._evictions

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that was created (no old), changed, or removed (no new)."""
        before, after = no_execute_taints(old), no_execute_taints(new)
        if new is None:
            # As in ``handleNodeUpdate``, deadlines stay, and the pods go when they end.
            if old is not None:
                self._taints.pop(old.name, None)
        elif before != after:
            self._taints[new.name] = after
            if not after:
                del self._taints[new.name]
            self._changed_nodes[new.name] = None
            self._wake()

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created (no old), changed, or removed (no new)."""
        if self._is_idle:
            return
        if new is None:
            if old is not None:
                self._cancel(old.key)
                self._repeats.removed(old)
            return
        # The status of a pod does not matter here, and changes most often.
        is_same = (
            old is not None
            and old.node_name == new.node_name
            and old.spec.tolerations == new.spec.tolerations
        )
        if not is_same and new.node_name in self._taints:
            self._repeats.arrived(new)
            self._changed_pods[new.key] = None
            self._wake()

    def _wake(self) -> None:
        """Examine the pods after all changes of this moment."""
        # One pass for all changes of a moment: a node and its pods are often loaded
        # together.
        if self._timer is None:
            clock = self._cluster.clock
            self._timer = clock.call_at(clock.now(), self._examine)

    def _examine(self) -> None:
        self._timer = None
        nodes, self._changed_nodes = self._changed_nodes, {}
        keys, self._changed_pods = self._changed_pods, {}
        keys |= dict.fromkeys(self._pods_on.keys_on(nodes))
        for key in keys:
            pod = self._pods.get(key)
            if pod is not None:
                self._examine_pod(pod, self._taints.get(pod.node_name, ()))

    def _examine_pod(self, pod: Pod, taints: Sequence[Taint]) -> None:
        """Evict a pod, set its deadline, or cancel that."""
        if not taints or self._repeats.is_endless(pod):
            self._cancel(pod.key)
            return
        tolerations = self._used_tolerations(pod, taints)
        if tolerations is None:
            self._cancel(pod.key)
            self._evict(pod.key, pod.uid)
            return
        seconds = _shortest(tolerations)
        if seconds is None:
            self._cancel(pod.key)
        else:
            self._schedule(pod, float(seconds))

    def _used_tolerations(
        self, pod: Pod, taints: Iterable[Taint]
    ) -> list[Toleration] | None:
        """Return the first toleration of each taint; None if one has none."""
        used = []
        for taint in taints:
            # The first match counts, as in ``GetMatchingTolerations``, though a later
            # one might last longer.
            for toleration in pod.spec.tolerations:
                if tolerates(toleration, taint, compares_numbers=self._compares):
                    used.append(toleration)
                    break
            else:
                return None
        return used

    def _schedule(self, pod: Pod, seconds: float) -> None:
        clock = self._cluster.clock
        now = scheduled_at = clock.now()
        eviction = self._evictions.get(pod.key)
        if eviction is not None:
            if eviction.scheduled_at < now:
                # As in ``processPodOnNode``, more taints do not change a deadline.
                return
            self._cancel(pod.key)
        call = partial(self._evict, pod.key, pod.uid)
        timer = clock.call_at(scheduled_at + seconds, call)
        self._evictions[pod.key] = _Eviction(scheduled_at, timer)

    def _cancel(self, key: str) -> None:
        eviction = self._evictions.pop(key, None)
        if eviction is not None:
            eviction.timer.cancel()

    def _evict(self, key: str, uid: str) -> None:
        self._evictions.pop(key, None)
        pod = self._pods.get(key)
        if pod is None or pod.uid != uid or pod.is_terminating:
            return
        # Before the deletion, while the pod still names its node.
        self._on_eviction(pod)
        self._repeats.evicted(pod)
        now = Time(self._cluster.clock.now())
        conditions = with_condition(pod.status.conditions, _DISRUPTED, now)
        status = replace(pod.status, conditions=conditions)
        self._cluster.delete(self._cluster.change(pod, replace(pod, status=status)))


def _shortest(tolerations: Iterable[Toleration]) -> int | None:
    """Return the shortest time of tolerations in seconds; None if none ends."""
    seconds = [
        # Negative times mean at once.
        max(0, toleration.toleration_seconds)
        for toleration in tolerations
        if toleration.toleration_seconds is not None
    ]
    return min(seconds, default=None)
