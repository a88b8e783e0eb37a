"""The model's decisions: nodes for a pod, and victims of its preemption."""

from collections.abc import Sequence

from tests.model.cluster import Cluster, ModelNode, ModelPod
from tests.model.rules import is_feasible, total_scores

__all__ = ["best_nodes", "feasible_nodes", "preemptions"]


def feasible_nodes(cluster: Cluster, pod: ModelPod) -> list[ModelNode]:
    """Return the nodes that pass all filters."""
    return [node for node in cluster.nodes if is_feasible(cluster, pod, node)]


def best_nodes(cluster: Cluster, pod: ModelPod) -> set[str]:
    """Return the names of the feasible nodes with the highest total."""
    feasible = feasible_nodes(cluster, pod)
    if not feasible:
        return set()
    totals = total_scores(cluster, pod, feasible)
    highest = max(totals.values())
    return {name for name, total in totals.items() if total == highest}


def preemptions(cluster: Cluster, pod: ModelPod) -> list[tuple[str, frozenset[str]]]:
    """Return the best preemptions: a node, and the names of its victims.

    Best is the lowest highest priority of a victim, then the smallest sum of
    priorities, the fewest victims, and the latest start of the most important ones.
    """
    options = [
        (node.name, victims)
        for node in cluster.nodes
        if (victims := _victims(cluster, pod, node))
    ]
    if not options:
        return []
    least = min(_harm(victims) for _, victims in options)
    return [
        (name, frozenset(victim.name for victim in victims))
        for name, victims in options
        if _harm(victims) == least
    ]


def _victims(cluster: Cluster, pod: ModelPod, node: ModelNode) -> Sequence[ModelPod]:
    """Return the victims on a node: all pods of lower priority that do not fit."""
    staying = [
        other for other in cluster.pods_on(node) if other.priority >= pod.priority
    ]
    lower = [other for other in cluster.pods_on(node) if other.priority < pod.priority]
    if not is_feasible(cluster.with_pods(node, staying), pod, node):
        return []
    victims = []
    for other in sorted(lower, key=lambda other: (-other.priority, other.started)):
        if is_feasible(cluster.with_pods(node, [*staying, other]), pod, node):
            staying.append(other)
        else:
            victims.append(other)
    return victims


def _harm(victims: Sequence[ModelPod]) -> tuple[int, int, int, int]:
    top = max(victim.priority for victim in victims)
    # Raised by the range of priorities, so that more victims are always worse.
    total = sum(victim.priority + (1 << 31) for victim in victims)
    earliest = min(victim.started for victim in victims if victim.priority == top)
    return top, total, len(victims), -earliest
