"""Excuses: the pods that only the flush wakes, upstream too."""

from collections.abc import Iterable

from quaymaster import Node, Pod
from quaymaster.cluster import EventNote
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import pod_requests
from quaymaster.scheduler import Scheduler
from tests.chaos.fault_plan import FaultPlan
from tests.kit.engine import cache_of
from tests.kit.internals.queue import QueuedPod

__all__ = ["Excuses"]

_OVERLOOKING = frozenset({"InterPodAffinity", "PodTopologySpread", "VolumeBinding"})
"""Plugins whose hints leave some pods to the flush; the last one hears nothing of the
volumes that a reserved pod gives back."""


class Excuses:
    """Collects what happens without an event for the pods in the queue.

    Args:
        cluster: The cluster, without faults.
        plan: Knows the pods that waited on Permit.
    """

    def __init__(self, cluster: InMemoryCluster, plan: FaultPlan) -> None:
        self._cluster = cluster
        self._plan = plan
        self._outdone: set[str] = set()
        self._nominations: dict[str, str] = {}

    def uids(self, scheduler: Scheduler) -> set[str]:
        """The pods that may wait for the flush.

        They wait for a new node; or were preempted while they waited on Permit, and
        wait for nothing; or for a node that another pod gave up; or for room that an
        assumed pod no longer requests, or freed without an event when it went; or they
        were rejected because of other pods' labels: hints overlook some changes of
        these, and there are no events of assumed pods.
        """
        nodes = {node.uid for node in self._cluster.list(Node).items}
        waiting = self._plan.kept_waiting
        excused = {uid for uid in waiting if nodes <= waiting[uid]}
        overlooked = (one for one in scheduler.queue if one.rejectors & _OVERLOOKING)
        return excused | _uids(overlooked) | self._outdone

    def attempting(self, scheduler: Scheduler, pod: Pod) -> None:
        """A pod is about to be tried: what it has missed no longer matters."""
        for name, pods in scheduler.queue.nominator.by_node().items():
            if any(other.uid == pod.uid for other in pods):
                self._nominations[pod.uid] = name
        self._plan.kept_waiting.pop(pod.uid, None)
        self._outdone.discard(pod.uid)
        if self._is_outgrown(scheduler):
            self._outdone.add(pod.uid)

    def bound(self, scheduler: Scheduler, pod: Pod, node_name: str) -> None:
        """A pod was bound.

        The pods that its nomination to another node kept out get no event
        (kubernetes/kubernetes issue 134859).
        """
        if self._nominations.pop(pod.uid, node_name) != node_name:
            self._outdone |= _uids(
                queued
                for queued in scheduler.queue
                if queued.pod.priority <= pod.priority
            )

    def recorded(self, scheduler: Scheduler, note: EventNote) -> None:
        """A pod that waits on Permit may be preempted: then no event can help it."""
        uid = note.regarding.uid
        if note.reason == "Preempted" and scheduler.waiting.get(uid) is not None:
            self._outdone.add(uid)

    def resized(self, scheduler: Scheduler) -> None:
        """A pod requests something else; if it is assumed, there is no event."""
        if self._is_outgrown(scheduler):
            self._outdone |= _uids(scheduler.queue)

    def missed(self, scheduler: Scheduler, pod: Pod) -> None:
        """A pod is found to be gone, and no event had told that it was bound.

        Hints get its last known state, and take it for a pod that took no room
        (``deletePod``, ``pkg/scheduler/eventhandlers.go``).
        """
        if not pod.node_name and cache_of(scheduler).get(pod.uid) is not None:
            self._outdone |= _uids(scheduler.queue)

    def unheard(self, scheduler: Scheduler, plugin: str) -> None:
        """What a plugin has rejected pods for may be over, and no event says so."""
        self._outdone |= _uids(
            one for one in scheduler.queue if plugin in one.rejectors
        )

    def _is_outgrown(self, scheduler: Scheduler) -> bool:
        """Whether an assumed pod takes room that it no longer requests.

        Updates of assumed pods are ignored, and their binding comes as a new pod: no
        hint takes that for room (``updatePodInSchedulingQueue`` and
        ``addAssignedPodToCache``, ``pkg/scheduler/eventhandlers.go``).
        """
        cache = cache_of(scheduler)
        assumed = (
            (cache.get(stored.uid), stored)
            for stored in self._cluster.list(Pod).items
            if cache.is_assumed(stored.uid)
        )
        return any(
            known is not None
            and pod_requests(known).milli_cpu > pod_requests(stored).milli_cpu
            for known, stored in assumed
        )


def _uids(pods: Iterable[QueuedPod]) -> set[str]:
    return {queued.pod.uid for queued in pods}
