"""In-memory clusters in virtual time, and a stand-in for the scheduler of theirs."""

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
    """A cluster that holds some objects.

    Args:
        *objects: What it holds, beside its nodes.
        clock: Its time; one of its own by default.
        nodes: How many roomy nodes it has: ``n0``, ``n1`` and so on.
        **options: What else `InMemoryCluster` can be told.

    Returns:
        The cluster, whose controllers have seen all of it.
    """
    cluster = InMemoryCluster(clock or VirtualClock(), **options)
    roomy = (make_node(name=f"n{index}") for index in range(nodes))
    cluster.load([*roomy, *objects])
    return cluster


def pods_of(cluster: InMemoryCluster) -> list[Pod]:
    """All pods of a cluster."""
    return list(cluster.list(Pod).items)


def object_names(objects: Iterable[ApiObject]) -> list[str]:
    """The names of some objects, in their order."""
    return [obj.name for obj in objects]


def names_of(cluster: InMemoryCluster) -> list[str]:
    """The names of all pods of a cluster."""
    return object_names(pods_of(cluster))


def react(cluster: InMemoryCluster) -> None:
    """Let the controllers and the kubelet do what is due now."""
    cluster.clock.run_due()


def pass_time(cluster: InMemoryCluster, seconds: float) -> None:
    """Let virtual time pass, with all that is due on the way."""
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
    """Bind every pod that waits until no more come: to its only node, or to ``n0``."""
    while waiting := [pod for pod in pods_of(cluster) if not pod.node_name]:
        for pod in waiting:
            cluster.bind(pod, target_of(pod))
        react(cluster)


def target_of(pod: Pod) -> str:
    """The node that a pod of a DaemonSet is held to; ``n0`` for all others."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return "n0"
    nodes = affinity.node_affinity.required_during_scheduling_ignored_during_execution
    assert nodes is not None
    (term,) = nodes.node_selector_terms
    (condition,) = term.match_fields
    assert (condition.key, condition.operator) == ("metadata.name", "In")
    return condition.values[0]
