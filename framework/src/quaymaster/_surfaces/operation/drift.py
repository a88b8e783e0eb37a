"""Differences between a scheduler's cache and queue, and its informers.

Mirrors ``CacheComparer`` (Kubernetes v1.36,
``pkg/scheduler/backend/cache/debugger/comparer.go``). Here cache, queue and informers
change together, so each difference is a bug.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._core.engine.scheduler import Scheduler

__all__ = ["Difference", "DriftCounter", "find_drift"]


@attrs.frozen
class Difference:
    """One object that differs.

    Attributes:
        kind: ``Node`` or ``Pod``.
        key: Its key.
        difference: ``missing``, ``extra`` or ``changed``.
        detail: An explanation for people.
    """

    kind: str
    key: str
    difference: str
    detail: str


def find_drift(scheduler: Scheduler) -> Sequence[Difference]:
    """Compare cache and queue with the informers; called on the scheduler's thread."""
    # Before the first lists are complete, everything differs.
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
            expected = node.metadata.resource_version
            detail = f"version {version}, expected {expected}"
            yield Difference("Node", node.key, "changed", detail)
    for info in snapshot:
        if informers.get(Node, info.name) is None:
            yield Difference("Node", info.name, "extra", "still in the snapshot")


def _pods(scheduler: Scheduler) -> Iterator[Difference]:
    in_flight = set(scheduler.queue.in_flight)
    for pod in scheduler.informers.list(Pod):
        # Finished pods are held nowhere.
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
        detail = f"on node {held.node_name}, expected {pod.node_name}"
        yield Difference("Pod", pod.key, "changed", detail)
    elif held.metadata.resource_version != pod.metadata.resource_version:
        versions = (held.metadata.resource_version, pod.metadata.resource_version)
        detail = "version {}, expected {}".format(*versions)
        yield Difference("Pod", pod.key, "changed", detail)


def _is_pending(scheduler: Scheduler, pod: Pod, in_flight: set[str]) -> bool:
    """Return whether a pod without a node is in the queue, or need not be."""
    is_ours = pod.spec.scheduler_name in scheduler.frameworks
    if not is_ours or pod.is_terminating or pod.uid in in_flight:
        return True
    return pod.key in scheduler.queue


def _strangers(scheduler: Scheduler) -> Iterator[Difference]:
    informers = scheduler.informers
    for pod in scheduler.cache:
        current = informers.get(Pod, pod.key)
        if current is None or current.uid != pod.uid:
            detail = f"still on node {pod.node_name}"
            yield Difference("Pod", pod.key, "extra", detail)
    for queued in scheduler.queue:
        current = informers.get(Pod, queued.key)
        if current is None or current.uid != queued.pod.uid:
            yield Difference("Pod", queued.key, "extra", "still in a queue")


class DriftCounter:
    """Counts each difference once while it persists; any thread may read the counts.

    Attributes:
        counts: (kind, difference) -> the number of differences.
    """

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._there: frozenset[Difference] = frozenset()

    def take(self, differences: Sequence[Difference]) -> Sequence[Difference]:
        """Count the differences that are new since the last call, and return them."""
        there = frozenset(differences)
        new = [
            difference for difference in differences if difference not in self._there
        ]
        for difference in new:
            self.counts[difference.kind, difference.difference] += 1
        self._there = there
        return new
