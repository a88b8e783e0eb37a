"""Finds changes that may place a pod, from the verdicts about the nodes."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec

from quaymaster._api.objects import (
    Deployment,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    StatefulSet,
    Taint,
)
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.tolerations import TOLERATION_COMPARISONS, is_tolerated
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.cycle.explanation import NodeRejection
from quaymaster._studies.simulation.run import Simulation
from quaymaster._studies.why.changes import Candidate, ChangeKind
from quaymaster._studies.why.editing import Editing
from quaymaster._studies.why.new_nodes import added_nodes, kinds_of, series_of_nodes
from quaymaster._studies.why.node_edits import (
    labelled_nodes,
    required_labels,
    uncordoned_nodes,
    zones_of_volumes,
)
from quaymaster._studies.why.node_facts import passing_taints
from quaymaster._studies.why.plugin_edits import suggested_by_plugins
from quaymaster._studies.why.requests import lowered_requests
from quaymaster._studies.why.spec_edits import (
    dropped_affinity,
    dropped_ports,
    dropped_selectors,
    opened_gates,
    other_schedulers,
    tolerations,
)
from quaymaster._studies.why.spread_edits import changed_policies, relaxed_spreading
from quaymaster._studies.why.storage_edits import other_classes
from quaymaster._studies.why.subject import Subject
from quaymaster._studies.why.trials import is_agent, pending_pods
from quaymaster._studies.why.usable_nodes import usable_nodes
from quaymaster._studies.why.workload_edits import changed_rollouts, higher_priorities

__all__ = ["candidates", "first_node_kind", "more_nodes", "nodes_for", "suitable_first"]

_ARCHITECTURE: Final = "kubernetes.io/arch"
_INSUFFICIENT: Final = "Insufficient "
_REPELLING: Final = ("NoSchedule", "NoExecute")
_ORDER: Final = {kind: number for number, kind in enumerate(ChangeKind)}


def candidates(
    run: Simulation,
    pods: Sequence[Pod],
    subject: Subject,
    profiles: Sequence[str],
    *,
    of_group: Iterable[Candidate] | None = None,
    rejections: Sequence[NodeRejection] | None = None,
) -> list[Candidate]:
    """Return the changes that may place a pod, probably smaller ones first.

    Args:
        run: A simulation that has settled, in which the pods have no node.
        pods: The pods of the subject, of which the first is examined.
        subject: The object that a user would change.
        profiles: The scheduler names of all profiles.
        of_group: Changes of a PodGroup and its nodes, instead of those of nodes.
        rejections: Why nodes are rejected for the first pod; by default those of its
            last attempt.
    """
    pod = pods[0]
    editing = Editing(subject, run.cluster)
    # No profile schedules the pod, so no other change can help.
    if pod.spec.scheduler_name not in profiles:
        return list(other_schedulers(editing, pod.spec, profiles))
    gates = list(opened_gates(editing, pod.spec))
    # The queue does not try a gated pod, so no node has rejected it yet.
    if gates:
        return gates
    attempts = run.scheduler.past_attempts.of(pod.key)
    if rejections is None:
        # The last attempt: earlier ones met another cluster.
        rejections = (attempts[-1].rejections if attempts else None) or ()
    offered = chain(
        _of_spec(editing, pod, rejections, run.cluster),
        suggested_by_plugins(editing, pod, run),
        _of_workload(editing, pod, run.cluster),
        _of_nodes(pod, run.cluster, _waiting(editing, run.cluster))
        if of_group is None
        else of_group,
    )
    # Stable: changes of one kind stay in the order in which they are offered.
    return sorted(offered, key=lambda candidate: _ORDER[candidate.kind])


def _waiting(editing: Editing, cluster: InMemoryCluster) -> int:
    """Return how many pods more nodes are for: other pending pods may use them first.

    Pods that a StatefulSet creates later count as well.
    """
    return len(pending_pods(cluster)) + _later(editing, cluster)


def _later(editing: Editing, cluster: InMemoryCluster) -> int:
    """Return how many pods a StatefulSet creates once its pending pod is ready."""
    subject = editing.subject
    if subject.kind != StatefulSet.kind:
        return 0
    try:
        stateful_set = cluster.get(StatefulSet, f"{subject.namespace}/{subject.name}")
    except NotFoundError:
        return 0
    existing = sum(subject.owns(pod, cluster) for pod in cluster.list(Pod).items)
    return max(0, (stateful_set.spec.replicas or 0) - existing)


def _of_spec(
    editing: Editing,
    pod: Pod,
    rejections: Sequence[NodeRejection],
    cluster: InMemoryCluster,
) -> Iterator[Candidate]:
    spec = pod.spec
    yield from changed_policies(editing, spec)
    yield from lowered_requests(editing, spec, _lacking(rejections))
    # The first plugin that rejects a node hides the others, so changes of what the pod
    # requires are offered in any case.
    nodes = _nodes(cluster).values()
    taints = _taints(pod, nodes, cluster.kubernetes)
    yield from tolerations(editing, spec, taints, usable_nodes(pod, nodes))
    yield from dropped_ports(editing, spec)
    yield from relaxed_spreading(editing, spec)
    yield from dropped_selectors(editing, spec)
    yield from dropped_affinity(editing, spec)
    yield from other_classes(editing, pod, cluster)


def _of_workload(
    editing: Editing, pod: Pod, cluster: InMemoryCluster
) -> Iterator[Candidate]:
    yield from changed_rollouts(editing, cluster.list(Deployment).items)
    yield from higher_priorities(editing, pod, cluster.list(PriorityClass).items)


def nodes_for(pod: Pod, cluster: InMemoryCluster, pending: int) -> Iterator[Candidate]:
    """Return the changes of nodes that may place a pod.

    Args:
        pod: The pod.
        cluster: The cluster in which it is pending.
        pending: How many pods the nodes are for.
    """
    return _of_nodes(pod, cluster, pending)


def _of_nodes(pod: Pod, cluster: InMemoryCluster, pending: int) -> Iterator[Candidate]:
    nodes = _nodes(cluster)
    cordoned = (node for node in nodes.values() if node.spec.unschedulable)
    yield from uncordoned_nodes(cordoned)
    open_first = sorted(
        nodes.values(), key=lambda node: _is_closed(pod, node, cluster.kubernetes)
    )
    # Only a few nodes are tried for a label: a closed one would need two changes.
    yield from labelled_nodes(pod.spec, open_first)
    if is_agent(pod):
        return  # it needs its own node, whatever other nodes there are
    zones = zones_of_volumes(_volumes(pod, cluster))
    required = required_labels(pod.spec) or [{}]
    yield from added_nodes(
        suitable_first(pod, cluster),
        [{**labels, **zones} for labels in required],
        pending,
    )


def more_nodes(pods: Sequence[Pod], cluster: InMemoryCluster) -> Iterator[Candidate]:
    """Return the changes of the nodes that may place pods of several workloads.

    Args:
        pods: The pods; the first one decides which kinds of nodes are tried.
        cluster: The cluster in which they are pending.
    """
    nodes = _nodes(cluster).values()
    yield from uncordoned_nodes(node for node in nodes if node.spec.unschedulable)
    yield from series_of_nodes(suitable_first(pods[0], cluster), len(pods))


def first_node_kind(pod: Pod, cluster: InMemoryCluster) -> object:
    """Return a key of the kind of node that is tried first for a pod.

    It is equal for pods for which the same nodes are added; None without any node.
    """
    return next(kinds_of(suitable_first(pod, cluster)), None)


def suitable_first(pod: Pod, cluster: InMemoryCluster) -> list[Node]:
    """Return the nodes, beginning with those that a pod can use if they have room.

    Args:
        pod: The pod.
        cluster: The cluster with the nodes.
    """
    nodes = _nodes(cluster).values()
    usable = {node.name for node in usable_nodes(pod, nodes)}
    requests = pod_request_list(pod)
    architectures = Counter(node.labels.get(_ARCHITECTURE, "") for node in nodes)

    def rank(node: Node) -> tuple[bool, bool, int, int]:
        # A new node does not have the taints of the old one's state.
        lasting = set(node.spec.taints) - set(passing_taints(node.spec.taints))
        without = [_with_taints(node, lasting)]
        is_tainted = bool(_taints(pod, without, cluster.kubernetes))
        # An image that says nothing runs on most nodes, perhaps on no others.
        nodes_like_it = architectures[node.labels.get(_ARCHITECTURE, "")]
        # In this order: usable nodes, without taints, of the most common architecture,
        # without devices to waste.
        return (
            node.name not in usable,
            is_tainted,
            -nodes_like_it,
            _unused_devices(node, requests),
        )

    return sorted(nodes, key=rank)


def _unused_devices(node: Node, requests: Container[str]) -> int:
    """Return how many kinds of devices a node offers that a pod does not request."""
    offered = node.status.allocatable or node.status.capacity
    return sum(
        "/" in name and amount.nanos > 0 and name not in requests
        for name, amount in offered.items()
    )


def _with_taints(node: Node, taints: Iterable[Taint]) -> Node:
    spec = msgspec.structs.replace(node.spec, taints=tuple(taints))
    return msgspec.structs.replace(node, spec=spec)


def _nodes(cluster: InMemoryCluster) -> Mapping[str, Node]:
    return {node.name: node for node in cluster.list(Node).items}


def _lacking(rejections: Iterable[NodeRejection]) -> Sequence[str]:
    """Return the resources that some node lacks, in the order of the messages."""
    reasons = chain.from_iterable(rejection.reasons for rejection in rejections)
    names = (
        reason.removeprefix(_INSUFFICIENT)
        for reason in reasons
        if reason.startswith(_INSUFFICIENT)
    )
    return list(dict.fromkeys(names))


def _is_closed(pod: Pod, node: Node, kubernetes: Kubernetes) -> bool:
    """Whether a node is cordoned, or has a taint that a pod does not tolerate."""
    return node.spec.unschedulable or bool(_taints(pod, [node], kubernetes))


def _taints(pod: Pod, nodes: Iterable[Node], kubernetes: Kubernetes) -> Sequence[Taint]:
    """Return the taints of some nodes that reject a pod, each once."""
    compares = kubernetes.enabled(TOLERATION_COMPARISONS)
    tolerations_of_pod = pod.spec.tolerations
    taints = {
        (taint.key, taint.value, taint.effect): taint
        for node in nodes
        for taint in node.spec.taints
        if taint.effect in _REPELLING
        and not is_tolerated(taint, tolerations_of_pod, compares_numbers=compares)
    }
    return list(taints.values())


def _volumes(pod: Pod, cluster: InMemoryCluster) -> Iterator[PersistentVolume]:
    """Return the volumes that the claims of a pod are bound to."""
    for volume in pod.spec.volumes:
        claim = volume.persistent_volume_claim
        if claim is None:
            continue
        try:
            key = f"{pod.namespace}/{claim.claim_name}"
            name = cluster.get(PersistentVolumeClaim, key).spec.volume_name
            if name:
                yield cluster.get(PersistentVolume, name)
        except NotFoundError:
            continue
