"""DaemonSets: one pod for each node that suits.

Mirrors ``pkg/controller/daemon`` (Kubernetes v1.36). The scheduler binds the pods, held
to their node by an affinity. A changed template is used for pods that are made from
then on; pods that exist are not restarted for it.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._contract.cluster import ForbiddenError, InvalidError
from quaymaster._inmemory.access import ClusterAccess
from quaymaster._inmemory.controllers.families import Families
from quaymaster._inmemory.controllers.pods import (
    has_run_time,
    pod_of_template,
    record_failure,
)
from quaymaster._inmemory.names import safe_hash
from quaymaster._objects import (
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
from quaymaster._objects.codec import ENCODER
from quaymaster._objects.selectors import (
    find_untolerated_taint,
    required_node_affinity,
)

__all__ = ["DaemonSetController", "node_of"]

_REVISION_LABEL: Final = "controller-revision-hash"
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
    """Keeps up one pod per suitable node."""

    def __init__(self, cluster: ClusterAccess, families: Families) -> None:
        self._cluster = cluster
        self._families = families
        self._daemons: dict[str, _Daemons] = {}

    def sync(self, owner: DaemonSet) -> None:
        """Create pods on nodes that lack one, and delete those where none should be.

        Looks only at nodes where something has changed since the last time.
        """
        if owner.metadata.deletion_timestamp is not None:
            return
        daemons = self._daemons_of(owner)
        if not daemons.stale:
            return
        stale, daemons.stale = daemons.stale, {}
        template = _daemon_pod(owner, daemons.revision)
        nodes = self._cluster.objects(Node)
        lacking = []
        for name in stale:
            node, keys = nodes.get(name), daemons.by_node.get(name)
            if keys:
                stays = node is not None and _may_stay(template, node)
                self._prune(keys, stays, is_lost=node is None)
            elif node is not None and _should_run(template, node):
                lacking.append(name)
        if lacking:
            self._create(owner, daemons, template, lacking)

    def node_changed(self, name: str) -> None:
        """A node was created or removed, or has other labels or taints."""
        for daemons in self._daemons.values():
            daemons.stale[name] = None

    def pod_changed(self, uid: str, old: Pod | None, new: Pod | None) -> None:
        """A pod of a DaemonSet was created or removed, or has begun to end."""
        daemons = self._daemons.get(uid)
        pod = old if new is None else new
        if daemons is not None and pod is not None:
            daemons.update(pod, is_there=new is not None)

    def forget(self, uid: str) -> None:
        """Drop what is remembered about a DaemonSet that is gone."""
        self._daemons.pop(uid, None)

    def _daemons_of(self, owner: DaemonSet) -> "_Daemons":
        revision = safe_hash(ENCODER.encode(owner.spec.template))
        known = self._daemons.get(owner.uid)
        if known is None or known.revision != revision:
            known = self._daemons[owner.uid] = _Daemons(revision)
            known.stale.update(dict.fromkeys(self._cluster.objects(Node)))
            pods = self._cluster.objects(Pod)
            for key in self._families.of(owner.uid):
                known.update(pods[key], is_there=True)
        return known

    def _create(
        self, owner: DaemonSet, daemons: "_Daemons", template: Pod, names: list[str]
    ) -> None:
        added = 0
        try:
            admitted = self._cluster.admit(template)
            for name in names:
                # Admission sees no difference between them, so one is admitted for all.
                spec = admitted.spec
                spec = replace(spec, affinity=_held_to(spec.affinity, name))
                self._cluster.add(replace(admitted, spec=spec))
                added += 1
        except (ForbiddenError, InvalidError) as error:
            daemons.stale.update(dict.fromkeys(names[added:]))
            record_failure(self._cluster, owner, error, len(names) - added)

    def _prune(self, keys: Iterable[str], stays: bool, *, is_lost: bool) -> None:
        """Delete pods that have ended, should not be there, or are there twice.

        Those that run on a lost node are left to whoever collects garbage.
        """
        pods = self._cluster.objects(Pod)
        alive = [pods[key] for key in keys if not pods[key].is_terminating]
        running = [pod for pod in alive if not pod.is_finished]
        running.sort(key=lambda pod: not pod.node_name)
        for pod in alive:
            has_ended = pod.is_finished and not (
                pod.status.phase == "Succeeded" and has_run_time(pod.metadata)
            )
            is_wanted = stays and not has_ended and pod not in running[1:]
            if not is_wanted and not (is_lost and pod.node_name):
                self._cluster.delete(pod)


class _Daemons:
    """The pods of one DaemonSet by node.

    Attributes:
        revision: The hash of the template that all nodes have been judged by.
        by_node: The keys of the pods that are on a node, or meant for it.
        stale: The nodes that must be looked at.
    """

    __slots__ = ("_nodes", "by_node", "revision", "stale")

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.by_node: dict[str, dict[str, None]] = {}
        self.stale: dict[str, None] = {}
        self._nodes: dict[str, str] = {}

    def update(self, pod: Pod, *, is_there: bool) -> None:
        key = pod.key
        name = self._nodes.get(key)
        if name is None:
            name = self._nodes[key] = node_of(pod)
        self.stale[name] = None
        keys = self.by_node.setdefault(name, {})
        if is_there:
            keys[key] = None
        else:
            keys.pop(key, None)
            del self._nodes[key]


def _should_run(template: Pod, node: Node) -> bool:
    taints, own = node.spec.taints, template.spec.tolerations
    fits = required_node_affinity(template).matches(node)
    return fits and find_untolerated_taint(taints, own) is None


def _may_stay(template: Pod, node: Node) -> bool:
    taints, own = node.spec.taints, template.spec.tolerations
    fits = required_node_affinity(template).matches(node)
    return fits and find_untolerated_taint(taints, own, ("NoExecute",)) is None


def _daemon_pod(owner: DaemonSet, revision: str) -> Pod:
    """The pod that every node would get, without the node."""
    labels = {_REVISION_LABEL: revision, _GENERATION_LABEL: "1"}
    pod = pod_of_template(owner, owner.spec.template, labels=labels)
    return replace(pod, spec=_with_daemon_tolerations(pod.spec))


def node_of(pod: Pod) -> str:
    """The node that a pod of a DaemonSet is on or meant for; empty if none is known."""
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
    """The affinity, its required node affinity replaced by one for this node."""
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
    """The spec of a pod that stays on nodes in trouble."""
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
