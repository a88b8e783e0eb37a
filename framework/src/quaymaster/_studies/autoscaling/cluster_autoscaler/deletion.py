"""Removes nodes: marks them, moves their pods, and deletes their machines.

Mirrors ``core/scaledown/actuation`` and ``core/scaledown/budgets``. Upstream does it in
the background; here timers of the virtual clock do.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodDisruptionBudget, Taint
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import ApiError, NotFoundError
from quaymaster._studies.autoscaling.cloud import Cloud, has_node
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.deletion_batches import cropped
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import (
    NORMAL,
    WARNING,
    Report,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    TO_BE_DELETED,
    has_taint,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    is_daemon_pod,
    is_expendable,
    is_mirror_pod,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.removal import Removable
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import (
    SeenCluster,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import Utilization

__all__ = ["Deletions", "EvictFn"]

EvictFn = Callable[[Pod, float], None]
"""Evicts a pod with a grace period in seconds.

It raises `ApiError` if it is not allowed.
"""

_RETRY_SECONDS: Final = 10
_LOOK_SECONDS: Final = 5
_HEADROOM_SECONDS: Final = 30
_DEFAULT_GRACE_SECONDS: Final = 30
_OTHERS_STAY: Final = "couldn't scale down other nodes in this node group"
_DAEMON_EVICTION: Final = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"


@attrs.define(eq=False)
class _Deletion:
    """A node that is being removed.

    Attributes:
        name: The name of the node.
        group: The name of its group.
        drains: Whether its pods move.
        together: Whether it goes together with the other nodes of its group.
        is_ready: Whether only the other nodes keep it.
        is_cancelled: Whether it stays, as another node of its group does.
        pods: The pods that move.
    """

    name: str
    group: str
    drains: bool
    together: bool
    is_ready: bool = False
    is_cancelled: bool = False
    pods: list[Pod] = attrs.field(factory=list)


class Deletions:
    """The nodes that are being removed.

    Args:
        cluster: The cluster.
        seen: Its pods.
        cloud: The groups.
        drainability: Judges the pods.
        options: The options of the autoscaler.
        report: Writes events.
        evict: Evicts pods.

    Attributes:
        ended: The number of removals that have ended.
        shrunk: When each group last lost a node, in seconds since the epoch.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        seen: SeenCluster,
        cloud: Cloud,
        drainability: Drainability,
        options: ClusterAutoscalerOptions,
        report: Report,
        evict: EvictFn,
    ) -> None:
        self._cluster = cluster
        self._seen = seen
        self._cloud = cloud
        self._drainability = drainability
        self._options = options
        self._report = report
        self._evict = evict
        self._running: dict[str, _Deletion] = {}
        self.ended = 0
        self.shrunk: dict[str, float] = {}

    def names(self) -> Sequence[str]:
        """Return the names of the nodes that are being removed."""
        return [*self._running]

    def draining(self) -> Sequence[str]:
        """Return those whose pods are being moved."""
        return [each.name for each in self._running.values() if each.drains]

    def per_group(self) -> Counter[str]:
        """Return how many nodes of each group are being removed."""
        return Counter(each.group for each in self._running.values())

    def start(
        self,
        empty: Iterable[Removable],
        with_pods: Iterable[Removable],
        utilization: Callable[[str], Utilization | None],
    ) -> bool:
        """Start to remove nodes, as many as may be removed at the same time.

        Args:
            empty: Nodes without pods that move.
            with_pods: Nodes with such pods.
            utilization: Returns the utilisation of a node, for the event.

        Returns:
            Whether any removal has started.
        """
        named = _names(empty), _names(with_pods)
        batches = cropped(
            *named,
            self._cloud,
            most=self._options.max_scale_down_parallelism - len(self._running),
            most_drains=self._options.max_drain_parallelism - len(self.draining()),
        )
        first, last = (
            [names[name] for batch in chosen for name in batch.nodes]
            for names, chosen in zip(named, batches, strict=True)
        )
        for removable in first:
            self._mark(removable)
            text = f'Scale-down: removing empty node "{removable.node.name}"'
            self._report(NORMAL, "ScaleDownEmpty", text, None)
        for removable in last:
            self._mark(removable)
            name = removable.node.name
            text = _drain_text(removable, utilization(name))
            self._report(NORMAL, "ScaleDown", text, None)
        for removable in first:
            self._schedule(removable, drains=False)
        for removable in last:
            self._schedule(removable, drains=True)
        return bool(first or last)

    def _mark(self, removable: Removable) -> None:
        now = self._cluster.clock.now()
        node = self._cluster.get(Node, removable.node.name)
        if not has_taint(node, TO_BE_DELETED):
            taint = Taint(key=TO_BE_DELETED, value=str(int(now)), effect="NoSchedule")
            closed = node.spec.unschedulable or (
                self._options.cordon_node_before_terminating
            )
            taints = (*node.spec.taints, taint)
            spec = replace(node.spec, taints=taints, unschedulable=closed)
            self._cluster.update(replace(node, spec=spec))
        text = "marked the node as toBeDeleted/unschedulable"
        self._report(NORMAL, "ScaleDown", text, node)

    def _schedule(self, removable: Removable, *, drains: bool) -> None:
        name = removable.node.name
        group = self._cloud.group_of(name)
        together = group is not None and group.zero_or_max
        deletion = _Deletion(name, group.name if group else "", drains, together)
        self._running[name] = deletion
        delay = self._options.node_delete_delay_after_taint
        self._later(deletion, delay, lambda: self._check(deletion))

    def _later(
        self, deletion: _Deletion, seconds: float, go_on: Callable[[], None]
    ) -> None:
        """Go on with a removal later; it ends if others delete the node until then."""

        def go_on_if_there() -> None:
            if has_node(self._cluster, deletion.name):
                go_on()
            else:
                self._end(deletion)
                if deletion.together:
                    self._delete_if_ready(deletion)

        self._cluster.clock.call_later(seconds, go_on_if_there)

    def _check(self, deletion: _Deletion) -> None:
        """Judge the pods again, and evict them."""
        pods = [pod for pod in self._pods_on(deletion.name) if self._counts(pod)]
        now = self._cluster.clock.now()
        budgets = RemainingBudgets(
            self._cluster.list(PodDisruptionBudget).items if deletion.drains else ()
        )
        drain = self._drainability.drain_of(
            pods, budgets, now, knows_controllers=deletion.drains
        )
        if drain.blocking is not None:
            name = drain.blocking.pod.key
            self._abort(deletion, f"pod {name} blocks: {drain.blocking.reason.value}")
        elif not deletion.drains and drain.moving:
            text = f'failed to delete empty node "{deletion.name}", new pods scheduled'
            self._abort(deletion, text)
        elif not deletion.drains and drain.completing:
            text = (
                f'failed to delete empty node "{deletion.name}", '
                "active on-completion pods present"
            )
            self._abort(deletion, text)
        elif deletion.drains:
            deletion.pods = [
                pod for pod in pods if not (is_daemon_pod(pod) or is_mirror_pod(pod))
            ]
            self._evict_daemon_pods(
                pods, by_default=self._options.daemonset_eviction_for_occupied_nodes
            )
            until = now + self._options.max_pod_eviction_time
            self._evict_pods(deletion, deletion.pods, until)
        else:
            self._evict_daemon_pods(
                pods, by_default=self._options.daemonset_eviction_for_empty_nodes
            )
            self._finish(deletion)

    def _evict_pods(
        self, deletion: _Deletion, pods: Sequence[Pod], until: float
    ) -> None:
        """Evict pods; those that may not be evicted yet are tried again."""
        left = [pod for pod in pods if not self._try_to_evict(pod)]
        now = self._cluster.clock.now()
        if not left:
            self._wait_for_end(deletion, now)
        elif now + _RETRY_SECONDS < until:
            self._later(
                deletion,
                _RETRY_SECONDS,
                lambda: self._evict_pods(deletion, left, until),
            )
        else:
            for pod in left:
                text = "failed to delete pod for ScaleDown"
                self._report(WARNING, "ScaleDownFailed", text, pod)
            names = ", ".join(pod.key for pod in left)
            self._abort(deletion, f"pods were not evicted in time: {names}")

    def _try_to_evict(self, pod: Pod) -> bool:
        self._report(NORMAL, "ScaleDown", "deleting pod for node scale down", pod)
        try:
            self._evict(pod, self._grace_of(pod))
        except NotFoundError:
            return True
        except ApiError:
            return False
        return True

    def _evict_daemon_pods(self, pods: Iterable[Pod], *, by_default: bool) -> None:
        """Evict the pods of DaemonSets; nothing waits for them.

        Args:
            pods: The pods of a node.
            by_default: Whether pods without the annotation are evicted.
        """
        usual = "true" if by_default else "false"
        for pod in pods:
            is_chosen = pod.metadata.annotations.get(_DAEMON_EVICTION, usual) == "true"
            if is_daemon_pod(pod) and not is_mirror_pod(pod) and is_chosen:
                self._try_to_evict(pod)

    def _wait_for_end(self, deletion: _Deletion, since: float) -> None:
        now = self._cluster.clock.now()
        longest = self._options.max_graceful_termination_sec + _HEADROOM_SECONDS
        if not any(self._is_on(pod, deletion.name) for pod in deletion.pods):
            self._finish(deletion)
        elif now - since < longest:
            self._later(
                deletion, _LOOK_SECONDS, lambda: self._wait_for_end(deletion, since)
            )
        else:
            self._abort(deletion, "pods remaining after timeout")

    def _finish(self, deletion: _Deletion) -> None:
        """Delete a node, or all of a group that goes at once when the last is ready."""
        deletion.is_ready = True
        if deletion.is_cancelled:
            self._open(deletion, _OTHERS_STAY)
        else:
            self._delete_if_ready(deletion)

    def _delete_if_ready(self, deletion: _Deletion) -> None:
        going = self._together_with(deletion)
        if all(each.is_ready for each in going):
            for each in going:
                self._delete(each)

    def _together_with(self, deletion: _Deletion) -> Sequence[_Deletion]:
        if not deletion.together:
            return [deletion]
        group = deletion.group
        return [each for each in self._running.values() if each.group == group]

    def _delete(self, deletion: _Deletion) -> None:
        if not has_node(self._cluster, deletion.name):
            self._end(deletion)
            return
        node = self._cluster.get(Node, deletion.name)
        moved = counted(len(deletion.pods), "pod")
        reason = f"not needed, {moved} moved" if deletion.drains else "empty"
        self._cloud.delete([deletion.name], reason)
        self.shrunk[deletion.group] = self._cluster.clock.now()
        self._report(NORMAL, "ScaleDown", "nodes removed by cluster autoscaler", node)
        if deletion.drains:
            text = f"Scale-down: node {deletion.name} removed with drain"
            self._report(NORMAL, "ScaleDown", text, None)
        else:
            text = f"Scale-down: empty node {deletion.name} removed"
            self._report(NORMAL, "ScaleDownEmpty", text, None)
        self._end(deletion)

    def _abort(self, deletion: _Deletion, problem: str) -> None:
        """Give up: the node is opened again, and those that wait for it."""
        self._open(deletion, problem)
        for other in self._together_with(deletion):
            if other.is_ready:
                self._open(other, _OTHERS_STAY)
            else:
                other.is_cancelled = True

    def _open(self, deletion: _Deletion, problem: str) -> None:
        if not has_node(self._cluster, deletion.name):
            self._end(deletion)
            return
        node = self._cluster.get(Node, deletion.name)
        what = "drain and delete node" if deletion.drains else "delete empty node"
        text = f"failed to {what}: {problem}"
        self._report(WARNING, "ScaleDownFailed", text, node)
        taints = tuple(each for each in node.spec.taints if each.key != TO_BE_DELETED)
        is_closed = (
            node.spec.unschedulable and not self._options.cordon_node_before_terminating
        )
        spec = replace(node.spec, taints=taints, unschedulable=is_closed)
        self._cluster.update(replace(node, spec=spec))
        self._end(deletion)

    def _end(self, deletion: _Deletion) -> None:
        del self._running[deletion.name]
        self.ended += 1

    def _grace_of(self, pod: Pod) -> float:
        grace = pod.spec.termination_grace_period_seconds
        grace = _DEFAULT_GRACE_SECONDS if grace is None else grace
        longest = self._options.max_graceful_termination_sec
        return min(grace, longest) if longest > 0 else grace

    def _counts(self, pod: Pod) -> bool:
        return not is_expendable(pod, self._options.expendable_pods_priority_cutoff)

    def _pods_on(self, name: str) -> list[Pod]:
        self._seen.catch_up()
        return [pod for pod in self._seen.pods_on(name) if not pod.is_finished]

    def _is_on(self, pod: Pod, name: str) -> bool:
        try:
            return self._cluster.get(Pod, pod.key).node_name == name
        except NotFoundError:
            return False


def _names(removables: Iterable[Removable]) -> dict[str, Removable]:
    return {removable.node.name: removable for removable in removables}


def _drain_text(removable: Removable, utilization: Utilization | None) -> str:
    shares = utilization or Utilization(0.0, 0.0)
    gpu = _go(shares.gpu or 0.0)
    numbers = f"{_go(shares.cpu)} {_go(shares.memory)} {gpu} 0 {shares.resource}"
    names = ",".join(pod.name for pod in removable.drain.moving)
    return (
        f"Scale-down: removing node {removable.node.name}, utilization: "
        f"{{{numbers} {_go(shares.highest)}}}, pods to reschedule: {names}"
    )


def _go(number: float) -> str:
    """Format a number as Go does."""
    return repr(number).removesuffix(".0")
