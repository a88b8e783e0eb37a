"""In-memory clusters in virtual time, and a simple replacement for their scheduler."""

from collections.abc import Iterable
from typing import Any

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node

__all__ = [
    "make_cluster",
    "names_of",
    "object_names",
    "pass_time",
    "pods_of",
    "react",
    "schedule",
    "target_of",
]


def make_cluster(
    *objects: ApiObject,
    clock: VirtualClock | None = None,
    nodes: int = 0,
    **options: Any,
) -> InMemoryCluster:
    """Make a cluster that holds some objects.

    Args:
        *objects: Its objects, besides the nodes.
        clock: Its clock; a new virtual clock by default.
        nodes: The number of its large nodes: ``n0``, ``n1`` and so on.
        **options: Further options of `InMemoryCluster`.

    Returns:
        The cluster, after its controllers have processed all objects.
    """
    cluster = InMemoryCluster(clock or VirtualClock(), **options)
    roomy = (make_node(name=f"n{index}") for index in range(nodes))
    cluster.load([*roomy, *objects])
    return cluster


def pods_of(cluster: InMemoryCluster) -> list[Pod]:
    """Return all pods of a cluster."""
    return list(cluster.list(Pod).items)


def object_names(objects: Iterable[ApiObject]) -> list[str]:
    """Return the names of some objects, in their order."""
    return [obj.name for obj in objects]


def names_of(cluster: InMemoryCluster) -> list[str]:
    """Return the names of all pods of a cluster."""
    return object_names(pods_of(cluster))


def react(cluster: InMemoryCluster) -> None:
    """Let the controllers and the kubelet do what is due now."""
    cluster.clock.run_due()


def pass_time(cluster: InMemoryCluster, seconds: float) -> None:
    """Let virtual time pass, and do all that becomes due."""
    clock = cluster.clock
    assert isinstance(clock, VirtualClock)
    end = clock.now() + seconds
    react(cluster)
    while (due := clock.next_due()) is not None and due <= end:
        clock.advance(due - clock.now())
        react(cluster)
    clock.advance(end - clock.now())
    react(cluster)


def schedule(cluster: InMemoryCluster) -> None:
    """Bind all waiting pods, also new ones: to their only node, or to ``n0``."""
    while waiting := [pod for pod in pods_of(cluster) if not pod.node_name]:
        for pod in waiting:
            cluster.bind(pod, target_of(pod))
        react(cluster)


def target_of(pod: Pod) -> str:
    """Return the node that a DaemonSet's pod is pinned to; ``n0`` for all others."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return "n0"
    nodes = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert nodes is not None
    (term,) = nodes.node_selector_terms
    (condition,) = term.match_fields
    assert (condition.key, condition.operator) == ("metadata.name", "In")
    return condition.values[0]
