"""Differences between what a scheduler holds and what it has been told.

Mirrors ``CacheComparer`` (Kubernetes v1.36,
``pkg/scheduler/backend/cache/debugger/comparer.go``), which compares cache and queue
with the informers. They are changed together here, so each difference is a mistake.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.engine.scheduler import Scheduler

__all__ = ["Difference", "DriftCounter", "held_wrongly"]


@attrs.frozen
class Difference:
    """One object that is not as it should be.

    Attributes:
        kind: ``Node`` or ``Pod``.
        key: Its key.
        difference: ``missing``, ``extra`` or ``changed``.
        detail: More of it, for people.
    """

    kind: str
    key: str
    difference: str
    detail: str


def held_wrongly(scheduler: Scheduler) -> Sequence[Difference]:
    """Compare cache and queue with the informers; on the scheduler's thread."""
    if scheduler.unlisted():
        return ()
    return [*_nodes(scheduler), *_pods(scheduler), *_strangers(scheduler)]


def _nodes(scheduler: Scheduler) -> Iterator[Difference]:
    snapshot, informers = scheduler.snapshot, scheduler.informers
    for node in informers.list(Node):
        info = snapshot.get(node.name)
        if info is None:
            yield Difference("Node", node.key, "missing", "not in the snapshot")
            continue
        version = info.node.metadata.resource_version
        if version != node.metadata.resource_version:
            told = f"version {version}, told {node.metadata.resource_version}"
            yield Difference("Node", node.key, "changed", told)
    for info in snapshot:
        if informers.get(Node, info.name) is None:
            yield Difference("Node", info.name, "extra", "still in the snapshot")


def _pods(scheduler: Scheduler) -> Iterator[Difference]:
    in_flight = set(scheduler.queue.in_flight)
    for pod in scheduler.informers.list(Pod):
        if pod.is_finished:
            continue
        held = scheduler.cache.get(pod.uid)
        if pod.node_name:
            yield from _bound(pod, held)
        elif held is None and not _is_pending(scheduler, pod, in_flight):
            yield Difference("Pod", pod.key, "missing", "in no queue")


def _bound(pod: Pod, held: Pod | None) -> Iterator[Difference]:
    if held is None:
        yield Difference("Pod", pod.key, "missing", f"not on node {pod.node_name}")
        return
    if held.node_name != pod.node_name:
        told = f"on node {held.node_name}, told {pod.node_name}"
        yield Difference("Pod", pod.key, "changed", told)
    elif held.metadata.resource_version != pod.metadata.resource_version:
        versions = (held.metadata.resource_version, pod.metadata.resource_version)
        told = "version {}, told {}".format(*versions)
        yield Difference("Pod", pod.key, "changed", told)


def _is_pending(scheduler: Scheduler, pod: Pod, in_flight: set[str]) -> bool:
    """Whether a pod without a node is where it should be."""
    is_ours = pod.spec.scheduler_name in scheduler.frameworks
    if not is_ours or pod.is_terminating or pod.uid in in_flight:
        return True
    return pod.key in scheduler.queue


def _strangers(scheduler: Scheduler) -> Iterator[Difference]:
    informers = scheduler.informers
    for pod in scheduler.cache:
        known = informers.get(Pod, pod.key)
        if known is None or known.uid != pod.uid:
            detail = f"still on node {pod.node_name}"
            yield Difference("Pod", pod.key, "extra", detail)
    for queued in scheduler.queue:
        known = informers.get(Pod, queued.key)
        if known is None or known.uid != queued.pod.uid:
            yield Difference("Pod", queued.key, "extra", "still in a queue")


class DriftCounter:
    """Counts differences, each once for as long as it stays; from any thread.

    Attributes:
        counts: (kind, difference) -> how many there were.
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._there: frozenset[Difference] = frozenset()

    def take(self, found: Sequence[Difference]) -> Sequence[Difference]:
        """Count what is new since the last time, and return it."""
        there = frozenset(found)
        new = [one for one in found if one not in self._there]
        for one in new:
            self.counts[one.kind, one.difference] += 1
        self._there = there
        return new
