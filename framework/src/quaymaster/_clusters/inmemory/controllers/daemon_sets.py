"""DaemonSets: one pod for each suitable node.

Mirrors ``pkg/controller/daemon`` (Kubernetes v1.36), except ``minReadySeconds``. The
scheduler binds the pods, whose affinity allows only their node. Pods of an older
template are replaced by the strategy, on the oldest nodes first.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Affinity,
    DaemonSet,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    Toleration,
)
from quaymaster._api.objects.selectors import required_node_affinity
from quaymaster._api.objects.tolerations import (
    TOLERATION_COMPARISONS,
    find_untolerated_taint,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.pods import (
    has_run_time,
    is_ready,
    pod_of_template,
    record_failure,
)
from quaymaster._clusters.inmemory.controllers.revisions import (
    REVISION_LABEL,
    History,
    Revisions,
)
from quaymaster._clusters.inmemory.controllers.rollouts import daemon_limits
from quaymaster._core.contract.cluster import ForbiddenError, InvalidError

__all__ = ["DaemonSetController", "node_of"]

_GENERATION_LABEL: Final = "pod-template-generation"
_NAME_FIELD: Final = "metadata.name"
_TOLERATED: Final = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
_TOLERATED_ON_HOST_NETWORK: Final = (("network-unavailable", "NoSchedule"),)


class DaemonSetController:
    """Creates and deletes the pods of DaemonSets."""

    def __init__(self, cluster: ClusterAccess, families: Families) -> None:
        self._cluster = cluster
        self._families = families
        self._daemons: dict[str, _Daemons] = {}
        self._revisions = Revisions()
        self._compares_numbers = cluster.kubernetes.enabled(TOLERATION_COMPARISONS)

    def sync(self, owner: DaemonSet) -> None:
        """Create pods on nodes that lack one, and delete those where none should be.

        Looks only at nodes where something has changed since the last time.
        """
        if owner.metadata.deletion_timestamp is not None:
            return
        daemons = self._daemons_of(owner)
        if daemons.stale:
            self._look_at_stale(owner, daemons)
        self._roll(owner, daemons)

    def _look_at_stale(self, owner: DaemonSet, daemons: "_Daemons") -> None:
        stale, daemons.stale = daemons.stale, {}
        template = _daemon_pod(owner, daemons.revision)
        nodes = self._cluster.objects(Node)
        lacking = []
        for name in stale:
            node, keys = nodes.get(name), daemons.by_node.get(name)
            is_wanted = node is not None and self._should_run(template, node)
            daemons.note_wanted(name, is_wanted)
            if keys:
                stays = node is not None and self._may_stay(template, node)
                self._prune(daemons, keys, stays, is_lost=node is None)
            elif is_wanted:
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
            daemons.update(pod, is_there=new is not None)

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
        return required_node_affinity(template).matches(node) and not (
            find_untolerated_taint(
                node.spec.taints,
                template.spec.tolerations,
                effects,
                compares_numbers=self._compares_numbers,
            )
        )

    def _daemons_of(self, owner: DaemonSet) -> "_Daemons":
        history = self._revisions.note(owner.uid, owner.spec.template)
        daemons = self._daemons.get(owner.uid)
        if daemons is None or daemons.revision != history.newest:
            daemons = self._daemons[owner.uid] = _Daemons(history)
            daemons.stale.update(dict.fromkeys(self._cluster.objects(Node)))
            pods = self._cluster.objects(Pod)
            for key in self._families.of(owner.uid):
                daemons.update(pods[key], is_there=True)
        return daemons

    def _create(
        self, owner: DaemonSet, daemons: "_Daemons", template: Pod, names: list[str]
    ) -> None:
        added = 0
        try:
            admitted = self._cluster.admit(template)
            for name in names:
                # Admission treats them all alike, so one is admitted for all.
                spec = admitted.spec
                spec = replace(spec, affinity=_held_to(spec.affinity, name))
                self._cluster.add(replace(admitted, spec=spec))
                added += 1
        except (ForbiddenError, InvalidError) as error:
            daemons.stale.update(dict.fromkeys(names[added:]))
            record_failure(self._cluster, owner, error, len(names) - added)

    def _roll(self, owner: DaemonSet, daemons: "_Daemons") -> None:
        """Replace pods of an older template, as many as the strategy allows."""
        strategy = owner.spec.update_strategy
        is_rolling = bool(daemons.old) and strategy.type != "OnDelete"
        self._families.of(owner.uid).wants_starts = is_rolling
        if not is_rolling:
            return
        surge, unavailable = daemon_limits(strategy, len(daemons.wanted))
        if surge:
            self._surge(owner, daemons, surge)
        else:
            self._take_down(daemons, unavailable)

    def _take_down(self, daemons: "_Daemons", most: int) -> None:
        """Delete old pods: those that are not ready, and others up to a limit."""
        pods = self._cluster.objects(Pod)
        missing = len(daemons.wanted | daemons.nodes()) - len(daemons.available)
        room = max(0, most - missing)
        for key in list(daemons.old):
            pod = pods[key]
            if pod.is_terminating:
                continue
            if not is_ready(pod):
                self._cluster.delete(pod)
            elif room > 0:
                room -= 1
                self._cluster.delete(pod)

    def _surge(self, owner: DaemonSet, daemons: "_Daemons", most: int) -> None:
        """Create new pods beside old ones, and delete the old when the new ones run."""
        pods = self._cluster.objects(Pod)
        lacking, waiting = [], 0
        ready: list[str] = []
        for key in list(daemons.old):
            old = pods[key]
            if old.is_terminating:
                continue
            name = node_of(old)
            heirs = [
                pods[other]
                for other in daemons.by_node[name]
                if other not in daemons.old and not pods[other].is_terminating
            ]
            if any(map(is_ready, heirs)):
                self._cluster.delete(old)
            elif heirs:
                waiting += 1
            elif name not in daemons.wanted:
                continue
            elif is_ready(old):
                ready.append(name)
            else:
                lacking.append(name)
        lacking += ready[: max(0, most - waiting)]
        if lacking:
            template = _daemon_pod(owner, daemons.revision)
            self._create(owner, daemons, template, lacking)

    def _prune(
        self, daemons: "_Daemons", keys: Iterable[str], stays: bool, *, is_lost: bool
    ) -> None:
        """Delete pods that have ended, should not be there, or are duplicates.

        An old pod and a new one may be there together during an update. Pods that run
        on a lost node are left to the garbage collector.
        """
        pods = self._cluster.objects(Pod)
        alive = [pods[key] for key in keys if not pods[key].is_terminating]
        running = [pod for pod in alive if not pod.is_finished]
        running.sort(key=lambda pod: not pod.node_name)
        old = [pod for pod in running if pod.key in daemons.old]
        new = [pod for pod in running if pod.key not in daemons.old]
        surplus = [*old[1:], *new[1:]]
        for pod in alive:
            has_ended = pod.is_finished and not (
                pod.status.phase == "Succeeded" and has_run_time(pod.metadata)
            )
            is_wanted = stays and not has_ended and pod not in surplus
            if not is_wanted and not (is_lost and pod.node_name):
                self._cluster.delete(pod)


class _Daemons:
    """The pods of one DaemonSet by node.

    Args:
        history: The templates of the DaemonSet.

    Attributes:
        revision: The hash of the template that all nodes were checked with.
        by_node: The keys of the pods that are on a node, or meant for it.
        stale: The nodes that must be checked.
        old: The keys of the pods that are of an older template.
        wanted: The nodes that should have a pod.
        available: The nodes with a pod that is ready and not terminating -> how many.
    """

    __slots__ = (
        "_history",
        "_nodes",
        "_ready",
        "available",
        "by_node",
        "old",
        "revision",
        "stale",
        "wanted",
    )

    def __init__(self, history: History) -> None:
        self.revision = history.newest
        self.by_node: dict[str, dict[str, None]] = {}
        self.stale: dict[str, None] = {}
        self.old: dict[str, None] = {}
        self.wanted: set[str] = set()
        self.available: Counter[str] = Counter()
        self._history = history
        self._nodes: dict[str, str] = {}
        self._ready: set[str] = set()

    def nodes(self) -> set[str]:
        """Return the nodes that have a pod."""
        return {name for name, keys in self.by_node.items() if keys}

    def note_wanted(self, name: str, is_wanted: bool) -> None:
        """Record whether a node should have a pod."""
        if is_wanted:
            self.wanted.add(name)
        else:
            self.wanted.discard(name)

    def update(self, pod: Pod, *, is_there: bool) -> None:
        key = pod.key
        name = self._nodes.get(key)
        if name is None:
            name = self._nodes[key] = node_of(pod)
        self.stale[name] = None
        self._note_ready(key, name, is_there and is_ready(pod) and _is_alive(pod))
        keys = self.by_node.setdefault(name, {})
        if is_there:
            keys[key] = None
            if self._history.of(pod.labels) != self.revision:
                self.old[key] = None
        else:
            keys.pop(key, None)
            self.old.pop(key, None)
            del self._nodes[key]

    def _note_ready(self, key: str, name: str, is_available: bool) -> None:
        if is_available == (key in self._ready):
            return
        if is_available:
            self._ready.add(key)
            self.available[name] += 1
            return
        self._ready.remove(key)
        self.available[name] -= 1
        if not self.available[name]:
            del self.available[name]


def _is_alive(pod: Pod) -> bool:
    return not pod.is_terminating and not pod.is_finished


def _daemon_pod(owner: DaemonSet, revision: str) -> Pod:
    """Return the pod that every node would get, without the node."""
    labels = {REVISION_LABEL: revision, _GENERATION_LABEL: "1"}
    pod = pod_of_template(owner, owner.spec.template, labels=labels)
    return replace(pod, spec=_with_daemon_tolerations(pod.spec))


def node_of(pod: Pod) -> str:
    """Return the node of a DaemonSet's pod, bound or not; empty if there is none."""
    if pod.node_name:
        return pod.node_name
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    for term in required.node_selector_terms if required else ():
        for condition in term.match_fields:
            if condition.key == _NAME_FIELD and condition.operator == "In":
                return condition.values[0] if condition.values else ""
    return ""


def _held_to(affinity: Affinity | None, node_name: str) -> Affinity:
    """Return the affinity, its required node affinity replaced by one for this node."""
    name = NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node_name,))
    one_node = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),)
    )
    affinity = affinity or Affinity()
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=one_node,
    )
    return replace(affinity, node_affinity=node_affinity)


def _with_daemon_tolerations(spec: PodSpec) -> PodSpec:
    """Return the spec of a pod that stays on nodes in trouble."""
    more = _TOLERATED_ON_HOST_NETWORK if spec.host_network else ()
    tolerations = list(spec.tolerations)
    for trouble, effect in (*_TOLERATED, *more):
        added = Toleration(
            key=f"node.kubernetes.io/{trouble}", operator="Exists", effect=effect
        )
        _put(tolerations, added)
    return replace(spec, tolerations=tuple(tolerations))


def _put(tolerations: list[Toleration], added: Toleration) -> None:
    """Add a toleration, in the place of one of the same key, effect and operator."""
    for index, own in enumerate(tolerations):
        if (own.key, own.effect, own.operator, own.value) == (
            added.key,
            added.effect,
            added.operator,
            added.value,
        ):
            tolerations[index] = added
            return
    tolerations.append(added)
