"""DaemonSets: one pod for each suitable node.

Mirrors ``pkg/controller/daemon`` (Kubernetes v1.37). The scheduler binds the pods,
whose affinity allows only their node. Pods of an older template are replaced by the
strategy, on the oldest nodes first.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from quaymaster._api.objects import DaemonSet, Node, Pod
from quaymaster._api.objects.selectors import required_node_affinity
from quaymaster._api.objects.tolerations import (
    TOLERATION_COMPARISONS,
    find_untolerated_taint,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.daemon_nodes import Daemons
from quaymaster._clusters.inmemory.controllers.daemon_pods import daemon_pod, held_to
from quaymaster._clusters.inmemory.controllers.daemon_updates import (
    plan_surge,
    pods_to_take_down,
    surplus_pods,
)
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.pods import (
    has_run_time,
    record_failure,
)
from quaymaster._clusters.inmemory.controllers.revisions import Revisions
from quaymaster._clusters.inmemory.controllers.rollouts import daemon_limits
from quaymaster._core.contract.cluster import ForbiddenError, InvalidError

__all__ = ["DaemonSetController"]


class DaemonSetController:
    """Creates and deletes the pods of DaemonSets."""

    def __init__(
        self, cluster: ClusterAccess, families: Families, availability: Availability
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._availability = availability
        self._pods = cluster.objects(Pod)
        self._daemons: dict[str, Daemons] = {}
        self._revisions = Revisions()
        self._compares_numbers = cluster.kubernetes.enabled(TOLERATION_COMPARISONS)

    def sync(self, owner: DaemonSet) -> None:
        """Create pods on nodes that lack one, and delete pods where none should run.

        Looks only at nodes where something has changed since the last time.
        """
        # The garbage collector removes the pods; a DaemonSet in deletion only waits for
        # that.
        if owner.metadata.deletion_timestamp is not None:
            return
        daemons = self._daemons_of(owner)
        due = daemons.ripen(self._cluster.clock.now())
        if due is not None:
            self._availability.check_at(owner, due)
        if daemons.stale:
            self._look_at_stale(owner, daemons)
        self._roll(owner, daemons)

    def _look_at_stale(self, owner: DaemonSet, daemons: Daemons) -> None:
        stale, daemons.stale = daemons.stale, {}
        # One template for all nodes, since they differ only in the name that `held_to`
        # inserts at the end.
        template = daemon_pod(owner, daemons.revision)
        nodes = self._cluster.objects(Node)
        lacking = []
        for name in stale:
            node, keys = nodes.get(name), daemons.by_node.get(name)
            # Two questions with two answers: a NoSchedule taint keeps new pods away,
            # but does not remove those that run (``NodeShouldRunDaemonPod``).
            is_desired = node is not None and self._should_run(template, node)
            daemons.note_desired(name, is_desired)
            is_lacking = is_desired and not keys
            if keys and node is not None and self._may_stay(template, node):
                is_empty = self._prune(owner, daemons, name)
                # With a surge, an old pod that has just been deleted does not hold up
                # its successor.
                is_lacking = is_desired and is_empty and _surges(owner)
            elif keys:
                self._remove(keys, is_lost=node is None)
            if is_lacking:
                lacking.append(name)
        if lacking:
            self._create(owner, daemons, template, lacking)

    def node_changed(self, name: str) -> None:
        """Handle a node that was created or removed, or has other labels or taints."""
        for daemons in self._daemons.values():
            daemons.stale[name] = None

    def pod_changed(self, uid: str, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created or removed, or has begun to terminate."""
        daemons = self._daemons.get(uid)
        pod = old if new is None else new
        if daemons is not None and pod is not None:
            now = self._cluster.clock.now()
            daemons.update(pod, now, is_there=new is not None)

    def forget(self, uid: str) -> None:
        """Drop the state of a removed DaemonSet."""
        self._daemons.pop(uid, None)
        self._revisions.forget(uid)

    def _should_run(self, template: Pod, node: Node) -> bool:
        return self._fits(template, node, ("NoSchedule", "NoExecute"))

    def _may_stay(self, template: Pod, node: Node) -> bool:
        return self._fits(template, node, ("NoExecute",))

    def _fits(self, template: Pod, node: Node, effects: tuple[str, ...]) -> bool:
        """Return whether a node has the labels, and the pod tolerates such taints."""
        if template.node_name not in ("", node.name):
            return False
        # Resources are not checked: the scheduler does that, and the pod stays pending
        # (``predicates``).
        return required_node_affinity(template).matches(node) and not (
            find_untolerated_taint(
                node.spec.taints,
                template.spec.tolerations,
                effects,
                compares_numbers=self._compares_numbers,
            )
        )

    def _daemons_of(self, owner: DaemonSet) -> Daemons:
        history = self._revisions.note(owner.uid, owner.spec.template)
        daemons = self._daemons.get(owner.uid)
        minimum = owner.spec.min_ready_seconds
        if (
            # A new template makes all pods stale, so counting starts again instead of
            # being corrected one by one.
            daemons is None
            or daemons.revision != history.newest
            or daemons.min_ready_seconds != minimum
        ):
            daemons = self._daemons[owner.uid] = Daemons(history, minimum)
            daemons.stale.update(dict.fromkeys(self._cluster.objects(Node)))
            pods = self._cluster.objects(Pod)
            now = self._cluster.clock.now()
            for key in self._families.of(owner.uid):
                daemons.update(pods[key], now, is_there=True)
        return daemons

    def _create(
        self, owner: DaemonSet, daemons: Daemons, template: Pod, names: list[str]
    ) -> None:
        added = 0
        try:
            admitted = self._cluster.admit(template)
            for name in names:
                # ``syncNodes`` sends batches that double, to waste few requests on a
                # rejection. Here the first rejection ends the loop.
                # Admission treats them all alike, so one is admitted for all.
                spec = admitted.spec
                spec = replace(spec, affinity=held_to(spec.affinity, name))
                self._cluster.add(replace(admitted, spec=spec))
                added += 1
        except (ForbiddenError, InvalidError) as error:
            # The nodes that are left stay stale, so the next sync tries them again.
            daemons.stale.update(dict.fromkeys(names[added:]))
            record_failure(self._cluster, owner, error, len(names) - added)

    def _roll(self, owner: DaemonSet, daemons: Daemons) -> None:
        """Replace pods of an older template, as many as the strategy allows."""
        strategy = owner.spec.update_strategy
        is_rolling = bool(daemons.old) and strategy.type != "OnDelete"
        # During an update, each pod that becomes ready lets the next one go. At other
        # times, these syncs would be wasted.
        self._families.of(owner.uid).wants_starts = is_rolling
        if not is_rolling:
            return
        surge, unavailable = daemon_limits(strategy, len(daemons.desired))
        if not surge:
            self._delete(pods_to_take_down(daemons, self._pods, unavailable))
            return
        plan = plan_surge(daemons, self._pods, surge)
        self._delete(plan.pods_to_delete)
        if plan.nodes_to_fill:
            template = daemon_pod(owner, daemons.revision)
            self._create(owner, daemons, template, plan.nodes_to_fill)

    def _delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._cluster.delete(self._pods[key])

    def _remove(self, keys: Iterable[str], *, is_lost: bool) -> None:
        """Delete the pods of a node where none may stay.

        Pods that run on a lost node are left to the garbage collector.
        """
        for pod in [self._pods[key] for key in keys]:
            if not pod.is_terminating and not (is_lost and pod.node_name):
                self._cluster.delete(pod)

    def _prune(self, owner: DaemonSet, daemons: Daemons, name: str) -> bool:
        """Delete the pods of a node that have ended or are duplicates.

        Returns:
            Whether no pod is left on the node that is not terminating.
        """
        pods = [self._pods[key] for key in daemons.by_node[name]]
        alive = [pod for pod in pods if not pod.is_terminating]
        ended = [pod for pod in alive if _has_ended(pod)]
        running = [pod for pod in alive if not pod.is_finished]
        for pod in ended:
            if pod.status.phase == "Succeeded":
                self._cluster.delete(pod)
            else:
                self._delete_failed(owner, daemons, name, pod)
        for pod in surplus_pods(daemons, running, surges=_surges(owner)):
            self._cluster.delete(pod)
        return len(alive) == len(ended)

    def _delete_failed(
        self, owner: DaemonSet, daemons: Daemons, name: str, pod: Pod
    ) -> None:
        now = self._cluster.clock.now()
        due = daemons.failed.due_of(name, now)
        if due <= now:
            daemons.failed.record(name, now)
            self._cluster.delete(pod)
        else:
            # The node remains to be looked at when the backoff ends.
            daemons.stale[name] = None
            self._availability.check_at(owner, due)


def _surges(owner: DaemonSet) -> bool:
    """Return whether a node may have a new pod beside an old one, during an update."""
    strategy = owner.spec.update_strategy
    return strategy.type == "RollingUpdate" and daemon_limits(strategy, 1)[0] > 0


def _has_ended(pod: Pod) -> bool:
    """Return whether a pod has failed, or ended before its work was done."""
    # A simulated run time means that the pod's work is meant to end, so no new pod
    # replaces it; upstream would replace it.
    is_done = pod.status.phase == "Succeeded" and has_run_time(pod.metadata)
    return pod.is_finished and not is_done
