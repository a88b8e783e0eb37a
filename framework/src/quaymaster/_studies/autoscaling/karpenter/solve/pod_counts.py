"""The pods that run already, by the domains they are in; counted once for a state.

Mirrors ``countDomains`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/topology.go``).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.topology_group import (
    TopologyGroup,
)

__all__ = ["running_pods"]


def running_pods(
    state: ClusterState,
    group: TopologyGroup,
    identity: object,
    excluded: Mapping[str, Pod],
) -> Mapping[str, int]:
    """Return how many pods of a group run in each domain.

    Args:
        state: The cluster.
        group: The group.
        identity: What distinguishes groups that select the same pods.
        excluded: The pods that do not count, by uid.
    """
    key = ("pods", identity, group.node_filter.exact)
    counts = state.cache.get(key)
    if counts is None:
        pods = (
            pod
            for namespace in group.namespaces
            for pod in state.pods_by_namespace.get(namespace, ())
        )
        counts = state.cache[key] = Counter(_domains(state, group, pods))
    running = _running(group, excluded.values())
    left_out = Counter(_domains(state, group, running))
    return counts - left_out if left_out else counts


def _running(group: TopologyGroup, pods: Iterable[Pod]) -> Collection[Pod]:
    """Return those pods that were counted."""
    return [
        pod
        for pod in pods
        if pod.node_name
        and pod.namespace in group.namespaces
        and not pod.is_finished
        and not pod.is_terminating
    ]


def _domains(
    state: ClusterState, group: TopologyGroup, pods: Iterable[Pod]
) -> Iterable[str]:
    """Yield the domain of each pod that counts."""
    verdicts: dict[str, str | None] = {}
    for pod in pods:
        if not group.counts_labels(pod.labels):
            continue
        name = pod.node_name
        if name not in verdicts:
            verdicts[name] = _domain_of(state.get(Node, name), group)
        domain = verdicts[name]
        if domain is not None:
            yield domain


def _domain_of(node: Node | None, group: TopologyGroup) -> str | None:
    """Return the domain of a node; None if its pods do not count."""
    if node is None:
        return None
    domain = node.labels.get(group.key)
    if domain is None and group.key == HOSTNAME:
        # A node that has just registered has no such label yet.
        domain = node.name
    if domain is None or group.node_filter.matches_all:
        return domain
    labels = Requirements.from_labels(node.labels)
    return domain if group.node_filter.matches(node.spec.taints, labels) else None
