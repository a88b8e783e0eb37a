"""The rules of the default profile, for one node at a time.

Each rule follows the documentation of Kubernetes, in the simplest way. Memory counts in
mebibytes here: no ratio depends on the unit.
"""

from collections.abc import Sequence

from tests.model.cluster import Cluster, ModelNode, ModelPod

__all__ = ["is_feasible", "total_scores"]


def is_feasible(cluster: Cluster, pod: ModelPod, node: ModelNode) -> bool:
    """Whether a pod may run on a node."""
    return (
        _is_open(pod, node)
        and _has_room(cluster, pod, node)
        and _is_spread(cluster, pod, node)
        and _is_apart(cluster, pod, node)
    )


def _is_open(pod: ModelPod, node: ModelNode) -> bool:
    return (
        not node.cordoned
        and pod.disk in ("", node.disk)
        and all(
            key in pod.tolerates or effect == "PreferNoSchedule"
            for key, effect in node.taints
        )
    )


def _has_room(cluster: Cluster, pod: ModelPod, node: ModelNode) -> bool:
    pods = [*cluster.pods_on(node), pod]
    return (
        len(pods) <= node.pods
        and sum(other.cpu for other in pods) <= node.cpu
        and sum(other.memory for other in pods) <= node.memory
    )


def _is_spread(cluster: Cluster, pod: ModelPod, node: ModelNode) -> bool:
    """Whether a node keeps the spread constraint; only selected nodes form zones."""
    if not pod.spread:
        return True
    if not node.zone:
        return False
    eligible = [
        other for other in cluster.nodes if other.zone and pod.disk in ("", other.disk)
    ]
    counts = {other.zone: 0 for other in eligible}
    for other in eligible:
        counts[other.zone] += sum(
            running.app == pod.app for running in cluster.pods_on(other)
        )
    return counts[node.zone] + 1 - min(counts.values()) <= pod.spread


def _is_apart(cluster: Cluster, pod: ModelPod, node: ModelNode) -> bool:
    """Whether the anti-affinity of the pod, and of the pods there, allows a node."""
    own = node.domain(pod.apart) if pod.apart else ""
    if own and any(other.app == pod.app for other in cluster.pods_in(pod.apart, own)):
        return False
    return not any(
        other.apart
        and other.app == pod.app
        and neighbour.domain(other.apart)
        and neighbour.domain(other.apart) == node.domain(other.apart)
        for neighbour in cluster.nodes
        for other in cluster.pods_on(neighbour)
    )


def total_scores(
    cluster: Cluster, pod: ModelPod, nodes: Sequence[ModelNode]
) -> dict[str, int]:
    """Return the total score of each feasible node."""
    taints = _scaled([_disliked_taints(pod, node) for node in nodes])
    wishes = _scaled([int(node.disk == pod.prefers) for node in nodes])
    return {
        node.name: (
            _least_allocated(cluster, pod, node)
            + _balance(cluster, pod, node)
            + 3 * (100 - taint)
            + 2 * wish
        )
        for node, taint, wish in zip(nodes, taints, wishes, strict=True)
    }


def _scaled(scores: Sequence[int]) -> Sequence[int]:
    highest = max(scores)
    return [100 * score // highest if highest else 0 for score in scores]


def _disliked_taints(pod: ModelPod, node: ModelNode) -> int:
    return sum(
        effect == "PreferNoSchedule" and key not in pod.tolerates
        for key, effect in node.taints
    )


def _least_allocated(cluster: Cluster, pod: ModelPod, node: ModelNode) -> int:
    pods = [*cluster.pods_on(node), pod]
    cpu = sum(other.cpu for other in pods)
    memory = sum(other.memory for other in pods)
    free_cpu = (node.cpu - cpu) * 100 // node.cpu
    free_memory = (node.memory - memory) * 100 // node.memory
    return (free_cpu + free_memory) // 2


def _balance(cluster: Cluster, pod: ModelPod, node: ModelNode) -> int:
    """Return a score from 50 to 100 for the balance of CPU and memory with the pod."""
    before = _evenness(cluster.pods_on(node), node)
    after = _evenness([*cluster.pods_on(node), pod], node)
    return 50 + (50 + after - before) // 2


def _evenness(pods: Sequence[ModelPod], node: ModelNode) -> int:
    cpu = sum(pod.cpu for pod in pods) / node.cpu
    memory = sum(pod.memory for pod in pods) / node.memory
    return int((1 - abs((cpu - memory) / 2)) * 100)
