"""The pods of DaemonSets: each is tied to one node.

Mirrors ``CreatePodTemplate`` and ``ReplaceDaemonSetPodNodeNameNodeAffinity``
(``pkg/controller/daemon/util``, Kubernetes v1.37).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Affinity,
    DaemonSet,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    Toleration,
)
from quaymaster._clusters.inmemory.controllers.pods import pod_of_template
from quaymaster._clusters.inmemory.controllers.revisions import REVISION_LABEL

__all__ = ["daemon_pod", "held_to", "node_of"]

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


def daemon_pod(owner: DaemonSet, revision: str) -> Pod:
    """Return the pod that every node would get, without the node."""
    labels = {REVISION_LABEL: revision, _GENERATION_LABEL: "1"}
    pod = pod_of_template(owner, owner.spec.template, labels=labels)
    return replace(pod, spec=_with_daemon_tolerations(pod.spec))


def node_of(pod: Pod) -> str:
    """Return the node of a DaemonSet's pod, bound or not; empty if there is none."""
    # A bound pod may lack the affinity: it was perhaps written by hand.
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


def held_to(affinity: Affinity | None, node_name: str) -> Affinity:
    """Return the affinity, its required node affinity replaced by one for this node."""
    name = NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node_name,))
    one_node = NodeSelector(
        node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),)
    )
    affinity = affinity or Affinity()
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(),
        # Required terms are alternatives, so the template's own must go: with them, the
        # pod could be placed elsewhere.
        required_during_scheduling_ignored_during_execution=one_node,
    )
    return replace(affinity, node_affinity=node_affinity)


def _with_daemon_tolerations(spec: PodSpec) -> PodSpec:
    """Return the spec of a pod that stays on nodes in trouble."""
    # Such a pod runs before the network of its node does, and often sets it up.
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
        # The value is compared, but not the time: an own toleration of five minutes is
        # replaced by one without end (``AddOrUpdateTolerationInPodSpec``).
        if (own.key, own.effect, own.operator, own.value) == (
            added.key,
            added.effect,
            added.operator,
            added.value,
        ):
            tolerations[index] = added
            return
    tolerations.append(added)
