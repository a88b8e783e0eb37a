"""Invariants: after each step, and when everything has settled."""

from collections.abc import Callable, Container, Iterator, Sequence
from typing import TypeAlias

import attrs

from quaymaster import Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Namespace, PersistentVolume, PersistentVolumeClaim
from quaymaster.scheduler import Scheduler
from tests.chaos.ledger import Ledger
from tests.chaos.rules import World, cpu_of, evictable, why_not
from tests.kit.engine import binding_of, cache_of, informers_of
from tests.kit.internals.operation import find_drift

__all__ = [
    "Chance",
    "Rule",
    "ViolationError",
    "chances",
    "check_agreement",
    "check_at_rest",
    "check_nodes",
    "check_places",
]


Rule: TypeAlias = Callable[[Pod, str], str]
"""A rule: returns why a pod may not run on a node, or an empty text."""


class ViolationError(AssertionError):
    """An invariant does not hold."""


@attrs.frozen
class Chance:
    """A node that a pending pod could be scheduled to.

    Attributes:
        pod: The pod.
        node_name: The node.
        by_eviction: Whether less important pods would have to be evicted.
    """

    pod: Pod
    node_name: str
    by_eviction: bool

    def __str__(self) -> str:
        verb = "may evict" if self.by_eviction else "fits"
        return f"{self.pod.key} waits, but {verb} on {self.node_name}"


def check_nodes(cluster: InMemoryCluster, ledger: Ledger) -> None:
    """Check that the scheduler's bindings overcommit no node."""
    bound: dict[str, list[Pod]] = {}
    for pod in cluster.list(Pod).items:
        if pod.node_name and not pod.is_finished:
            bound.setdefault(pod.node_name, []).append(pod)
    problem = ledger.overcommitted(bound)
    if problem:
        raise ViolationError(problem)


def check_places(scheduler: Scheduler) -> None:
    """Check that each pod of the scheduler is in exactly one place."""
    queue, cache = scheduler.queue, cache_of(scheduler)
    lengths = queue.lengths()
    if lengths.active + lengths.backoff + lengths.unschedulable != len(queue):
        raise ViolationError(f"pods are in two queues or in none: {lengths}")
    in_flight = set(queue.in_flight)
    for pod in informers_of(scheduler).list(Pod):
        if pod.is_finished:
            continue
        uid = pod.uid
        queued = queue.get(pod.key)
        assumed = cache.is_assumed(uid)
        places = (
            bool(pod.node_name) and cache.get(uid) is not None,
            queued is not None and queued.pod.uid == uid,
            assumed,
            uid in in_flight and not assumed,
        )
        found = sum(places)
        if found != 1 and not (not found and pod.is_terminating):
            names = zip(
                ("bound", "queued", "assumed", "in flight"), places, strict=True
            )
            listed = " and ".join(name for name, there in names if there)
            raise ViolationError(f"{pod.key} is {listed or 'nowhere'}")


def check_at_rest(scheduler: Scheduler, ledger: Ledger) -> None:
    """Check that no attempt has left anything behind."""
    queue = scheduler.queue
    if cache_of(scheduler).assumed_count or queue.in_flight:
        raise ViolationError("pods are assumed or in flight for ever")
    if queue.in_flight_event_count:
        raise ViolationError("events are kept for nobody")
    if binding_of(scheduler).in_flight or len(scheduler.waiting):
        raise ViolationError("a binding or a wait on Permit does not end")
    for decision in ledger.open_decisions():
        raise ViolationError(f"{decision.pod.key} was never given back")


def check_agreement(scheduler: Scheduler, cluster: InMemoryCluster) -> None:
    """Check that the scheduler's state is the cluster's."""
    for wrong in find_drift(scheduler):
        raise ViolationError(f"the comparer finds {wrong}")
    cache = cache_of(scheduler)
    live = [pod for pod in cluster.list(Pod).items if not pod.is_finished]
    bound = {pod.uid: pod for pod in live if pod.node_name}
    for pod in bound.values():
        cached = cache.get(pod.uid)
        if cached is None or cached.node_name != pod.node_name:
            raise ViolationError(f"the cache has {pod.key} elsewhere, or not")
    if len(cache) != len(bound):
        raise ViolationError(f"the cache has {len(cache)} pods, not {len(bound)}")
    pending = {pod.key for pod in live if not pod.node_name}
    if {queued.key for queued in scheduler.queue} != pending:
        raise ViolationError("the queue does not hold the pending pods")
    _check_nominations(scheduler, {pod.uid for pod in live if not pod.node_name})
    nodes = {node.name: node for node in cluster.list(Node).items}
    if {info.name for info in scheduler.snapshot.nodes} != set(nodes):
        raise ViolationError("the snapshot does not hold the nodes")
    for info in scheduler.snapshot.nodes:
        there = {pod.uid for pod in bound.values() if pod.node_name == info.name}
        if set(info.pods) != there:
            raise ViolationError(f"the snapshot has other pods on {info.name}")
        cpu = sum(cpu_of(bound[uid]) for uid in there)
        if info.requested.milli_cpu != cpu:
            raise ViolationError(f"the snapshot's sums of {info.name} are wrong")


def _check_nominations(scheduler: Scheduler, pending: Container[str]) -> None:
    for name, pods in scheduler.queue.nominator.by_node().items():
        for pod in pods:
            if pod.uid not in pending:
                raise ViolationError(f"{pod.key} is gone, and nominated to {name}")


def chances(
    cluster: InMemoryCluster, scheduler: Scheduler, also: Rule
) -> Iterator[Chance]:
    """Find the pending pods that fit on a node by the simple rules.

    Nominated pods that are at least as important keep their nodes.

    Args:
        cluster: The cluster, without faults.
        scheduler: Has nominations that it has not written to the cluster.
        also: One more rule.
    """
    nominations = {
        pod.uid: name
        for name, pods in scheduler.queue.nominator.by_node().items()
        for pod in pods
    }
    pods = [pod for pod in cluster.list(Pod).items if not pod.is_finished]
    world = World.of(
        cluster.list(Node).items,
        [(pod, pod.node_name) for pod in pods if pod.node_name],
        cluster.list(Namespace).items,
        cluster.list(PersistentVolumeClaim).items,
        cluster.list(PersistentVolume).items,
    )
    pending = [pod for pod in pods if not pod.node_name]
    for pod in pending:
        if pod.is_terminating or pod.spec.scheduling_gates:
            continue
        ahead = [
            (other, nominations.get(other.uid, other.status.nominated_node_name))
            for other in pending
            if other is not pod and other.priority >= pod.priority
        ]
        for name in world.nodes:
            if also(pod, name):
                continue
            if _fits(world, ahead, pod, name):
                yield Chance(pod, name, by_eviction=False)
            victims = evictable(world, pod, name)
            if victims and _fits(world.without(victims), ahead, pod, name):
                yield Chance(pod, name, by_eviction=True)


def _fits(world: World, ahead: Sequence[tuple[Pod, str]], pod: Pod, name: str) -> bool:
    """Whether a pod fits on a node, both with and without its nominated pods."""
    return not why_not(world, pod, name) and not why_not(
        attrs.evolve(world, placed=[*world.placed, *ahead]), pod, name
    )
