"""DaemonSets: one pod for each node that suits.

Mirrors ``pkg/controller/daemon`` (Kubernetes v1.36). The scheduler binds the pods, held
to their node by an affinity. A changed template is used for pods that are made from
then on; pods that exist are not restarted for it.
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._memory.controllers.families import Families
from quaymaster._memory.controllers.pods import admit_pod, pod_of_template
from quaymaster._memory.names import safe_hash
from quaymaster._memory.workbench import Workbench
from quaymaster.objects import (
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
from quaymaster.objects._codec import ENCODER
from quaymaster.selectors import find_untolerated_taint, required_node_affinity

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

    def __init__(self, bench: Workbench, families: Families) -> None:
        self._bench = bench
        self._families = families
        self._verdicts: dict[tuple[str, str], tuple[Node, str, bool, bool]] = {}

    def sync(self, owner: DaemonSet) -> None:
        """Create pods on nodes that lack one, delete those where none should be."""
        if owner.metadata.deletion_timestamp is not None:
            return
        pods = self._bench.objects(Pod)
        present: dict[str, list[Pod]] = {}
        for key in self._families.of(owner.uid):
            present.setdefault(node_of(pods[key]), []).append(pods[key])
        revision = safe_hash(ENCODER.encode(owner.spec.template))
        template = _daemon_pod(owner, revision)
        lacking = []
        nodes = self._bench.objects(Node)
        for name, node in nodes.items():
            runs, stays = self._verdict(owner, revision, template, node)
            here = present.get(name)
            if here is None:
                if runs:
                    lacking.append(name)
            else:
                self._prune(here, stays)
        for name in present.keys() - nodes.keys():
            self._prune([pod for pod in present[name] if not pod.node_name], False)
        self._create(owner, template, lacking)

    def forget(self, name_or_uid: str) -> None:
        """Drop what is remembered about a node, or a DaemonSet, that is gone."""
        self._verdicts = {
            k: v for k, v in self._verdicts.items() if name_or_uid not in k
        }

    def _create(self, owner: DaemonSet, template: Pod, names: list[str]) -> None:
        if not names:
            return
        admitted = admit_pod(self._bench, owner, template)
        if admitted is None:
            return
        for name in names:
            # What admission looks at is the same for all of them.
            spec = admitted.spec
            spec = replace(spec, affinity=_held_to(spec.affinity, name))
            self._bench.add(replace(admitted, spec=spec))

    def _verdict(
        self, owner: DaemonSet, revision: str, template: Pod, node: Node
    ) -> tuple[bool, bool]:
        """Whether a pod should be started on a node, and whether it may stay there."""
        key = (owner.uid, node.name)
        known = self._verdicts.get(key)
        if known is None or known[0] is not node or known[1] != revision:
            fits = required_node_affinity(template).matches(node)
            taints, own = node.spec.taints, template.spec.tolerations
            runs = fits and find_untolerated_taint(taints, own) is None
            stays = fits and find_untolerated_taint(taints, own, ("NoExecute",)) is None
            known = self._verdicts[key] = (node, revision, runs, stays)
        return known[2], known[3]

    def _prune(self, pods: list[Pod], stays: bool) -> None:
        """Delete pods that failed, or that should not be there, or not twice."""
        alive = [pod for pod in pods if not pod.is_terminating]
        for pod in alive:
            if not stays or pod.status.phase == "Failed":
                self._bench.delete(pod)
        if stays:
            running = [pod for pod in alive if not pod.is_finished]
            running.sort(key=lambda pod: not pod.node_name)
            for pod in running[1:]:
                self._bench.delete(pod)


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
    """The affinity with its demand on nodes replaced: this one node, nothing else."""
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
