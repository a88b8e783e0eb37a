"""Excuses: the pods that no event wakes, only the flush, as in upstream."""

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
"""Plugins whose hints leave some pods to the flush. The last one gets no event for the
volumes that a reserved pod gives back.
"""


class Excuses:
    """Collects changes that help pods in the queue but cause no event.

    Args:
        cluster: The cluster, without faults.
        plan: Has the pods that waited on Permit.
    """

    def __init__(self, cluster: InMemoryCluster, plan: FaultPlan) -> None:
        self._cluster = cluster
        self._plan = plan
        self._excused: set[str] = set()
        self._nominations: dict[str, str] = {}

    def uids(self, scheduler: Scheduler) -> set[str]:
        """Return the pods that may wait for the flush.

        They wait for a new node; or were preempted while they waited on Permit, and
        wait for nothing; or for a node that another pod gave up; or for room that an
        assumed pod no longer requests, or freed without an event when it was deleted;
        or they were rejected because of other pods' labels. Hints overlook some changes
        of labels, and assumed pods have no events.
        """
        nodes = {node.uid for node in self._cluster.list(Node).items}
        waiting = self._plan.kept_waiting
        excused = {uid for uid in waiting if nodes <= waiting[uid]}
        overlooked = (
            queued for queued in scheduler.queue if queued.rejectors & _OVERLOOKING
        )
        return excused | _uids(overlooked) | self._excused

    def attempting(self, scheduler: Scheduler, pod: Pod) -> None:
        """Forget the changes that a pod has missed: its attempt sees them."""
        for name, pods in scheduler.queue.nominator.by_node().items():
            if any(other.uid == pod.uid for other in pods):
                self._nominations[pod.uid] = name
        self._plan.kept_waiting.pop(pod.uid, None)
        self._excused.discard(pod.uid)
        if self._is_outgrown(scheduler):
            self._excused.add(pod.uid)

    def bound(self, scheduler: Scheduler, pod: Pod, node_name: str) -> None:
        """Excuse the pods that a bound pod kept off another node by its nomination.

        They get no event (kubernetes/kubernetes issue 134859).
        """
        if self._nominations.pop(pod.uid, node_name) != node_name:
            self._excused |= _uids(
                queued
                for queued in scheduler.queue
                if queued.pod.priority <= pod.priority
            )

    def recorded(self, scheduler: Scheduler, note: EventNote) -> None:
        """Excuse a pod that was preempted on Permit: no event helps it."""
        uid = note.regarding.uid
        if note.reason == "Preempted" and scheduler.waiting.get(uid) is not None:
            self._excused.add(uid)

    def resized(self, scheduler: Scheduler) -> None:
        """Excuse all pods if an assumed pod changed its requests: this has no event."""
        if self._is_outgrown(scheduler):
            self._excused |= _uids(scheduler.queue)

    def missed(self, scheduler: Scheduler, pod: Pod) -> None:
        """Excuse all pods if a deleted pod was bound and no event reported the binding.

        Hints get its last state, in which it has no node and takes no room
        (``deletePod``, ``pkg/scheduler/eventhandlers.go``).
        """
        if not pod.node_name and cache_of(scheduler).get(pod.uid) is not None:
            self._excused |= _uids(scheduler.queue)

    def ended_without_event(self, scheduler: Scheduler, plugin: str) -> None:
        """Excuse a plugin's rejected pods: the reason has ended without an event."""
        self._excused |= _uids(
            queued for queued in scheduler.queue if plugin in queued.rejectors
        )

    def _is_outgrown(self, scheduler: Scheduler) -> bool:
        """Whether an assumed pod takes room that it no longer requests.

        Updates of assumed pods are ignored, and their binding comes as a new pod. No
        hint treats that as freed room (``updatePodInSchedulingQueue`` and
        ``addAssignedPodToCache``, ``pkg/scheduler/eventhandlers.go``).
        """
        cache = cache_of(scheduler)
        assumed = (
            (cache.get(stored.uid), stored)
            for stored in self._cluster.list(Pod).items
            if cache.is_assumed(stored.uid)
        )
        return any(
            cached is not None
            and pod_requests(cached).milli_cpu > pod_requests(stored).milli_cpu
            for cached, stored in assumed
        )


def _uids(pods: Iterable[QueuedPod]) -> set[str]:
    return {queued.pod.uid for queued in pods}
