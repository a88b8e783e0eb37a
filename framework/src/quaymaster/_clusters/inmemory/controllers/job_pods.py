"""The pods of a Job, and which of those that have ended its status does not count yet.

Mirrors how ``pkg/controller/job`` (Kubernetes v1.37) counts. Upstream marks pods that
are not counted yet by a finalizer. The pods of this controller have none: it keeps
their uids. Loaded pods may have the finalizer, which is removed when they are counted.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Job,
    JobStatus,
    Pod,
    Time,
    UncountedTerminatedPods,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.families import Family
from quaymaster._clusters.inmemory.controllers.job_indexes import JobIndexes, index_of
from quaymaster._clusters.inmemory.controllers.pods import is_ready

__all__ = ["JobPods", "replaces_failed_only"]

_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
_NOTHING: Final = UncountedTerminatedPods()


class JobPods:
    """The pods of one Job.

    Args:
        job: The Job, when it is synced for the first time.
        family: Its pods then.
        cluster: The cluster.

    Attributes:
        uncounted: The pods that have ended and that the status does not count, by uid.
        ready: The keys of the active pods that are ready.
        indexes: The indexes of an Indexed Job; None for other Jobs.
        status: The Job's status, with the counts of loaded pods.
    """

    def __init__(self, job: Job, family: Family, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._failed_only = replaces_failed_only(job)
        # By uid, because the pod of an index may be replaced by one with the same name.
        self._counted: set[str] = set()
        self.uncounted: dict[str, Pod] = {}
        self.ready: set[str] = set()
        self.indexes: JobIndexes | None = None
        pods = cluster.objects(Pod)
        members = [pods[key] for key in family]
        listed = job.status.uncounted_terminated_pods or _NOTHING
        # Pods that the loaded status has counted are marked before the indexes are
        # built, which read the marks.
        for pod in members:
            if _is_counted(pod, listed):
                self._counted.add(pod.metadata.uid)
        self.status = _counted_status(job, members, listed)
        if job.spec.active_deadline_seconds is not None and job.status.start_time:
            # The time may be another cluster's, so the deadline is counted from here.
            start = Time(cluster.clock.now())
            self.status = replace(self.status, start_time=start)
        self._set_indexes(job, members)
        for pod in members:
            self._update(None, pod)

    def follow_spec(self, job: Job, family: Family) -> None:
        """Follow a number of completions that has changed."""
        # Elastic Indexed Jobs change their completions together with their parallelism.
        if self.indexes and self.indexes.completions != job.spec.completions:
            pods = self._cluster.objects(Pod)
            self._set_indexes(job, [pods[key] for key in family])

    def update(self, old: Pod | None, new: Pod | None) -> bool:
        """Apply the change of a pod; return whether the Job must be synced."""
        if self.indexes is not None:
            self._update_indexes(self.indexes, old, new)
        return self._update(old, new)

    def settle(self, pod: Pod) -> None:
        """Note that a pod is counted, or that it will never be counted."""
        uid = pod.metadata.uid
        self.uncounted.pop(uid, None)
        stored = self._cluster.objects(Pod).get(pod.key)
        # A new pod with this name may exist by now.
        if stored is None or stored.metadata.uid != uid:
            return
        self._counted.add(uid)
        if _FINALIZER in stored.metadata.finalizers:
            self._release(stored)

    def is_settled(self, pod: Pod) -> bool:
        """Return whether a pod is counted, or will never be counted."""
        return pod.metadata.uid in self._counted

    def _set_indexes(self, job: Job, members: Iterable[Pod]) -> None:
        if job.spec.completion_mode != "Indexed":
            return
        self.indexes = indexes = JobIndexes(job)
        for pod in members:
            self._update_indexes(indexes, None, pod)
            is_counted = pod.metadata.uid in self._counted
            index = index_of(pod)
            if is_counted and pod.status.phase == "Succeeded" and index is not None:
                indexes.add_completed(index)

    def _release(self, pod: Pod) -> None:
        """Remove the finalizer of a pod, and the pod itself if it is due."""
        metadata = pod.metadata
        finalizers = tuple(f for f in metadata.finalizers if f != _FINALIZER)
        metadata = replace(metadata, finalizers=finalizers)
        pod = self._cluster.change(pod, replace(pod, metadata=metadata))
        deadline = metadata.deletion_timestamp
        # The kubelet has finished with it already; only the finalizer kept the object.
        if deadline is not None and deadline <= self._cluster.clock.now():
            self._cluster.delete(pod, 0)

    def _update(self, old: Pod | None, new: Pod | None) -> bool:
        if new is None:
            return old is not None and self._remove(old)
        uid = new.metadata.uid
        has_ended = self._has_ended(new)
        # A pod that is changed after its end must not be counted a second time.
        if has_ended and uid not in self._counted:
            self.uncounted[uid] = new
        return self._update_ready(new) or has_ended

    def _update_ready(self, pod: Pod) -> bool:
        is_now = _is_active(pod) and is_ready(pod)
        if is_now == (pod.key in self.ready):
            return False
        if is_now:
            self.ready.add(pod.key)
        else:
            self.ready.discard(pod.key)
        return True

    def _remove(self, pod: Pod) -> bool:
        """Remove a pod; one that disappears without an end has failed."""
        self.ready.discard(pod.key)
        uid = pod.metadata.uid
        if uid in self._counted:
            self._counted.discard(uid)
        elif uid not in self.uncounted:
            status = replace(pod.status, phase="Failed")
            self.uncounted[uid] = replace(pod, status=status)
        return True

    def _has_ended(self, pod: Pod) -> bool:
        """Return whether a pod has succeeded or counts as failed (``isPodFailed``)."""
        if pod.status.phase in ("Succeeded", "Failed"):
            return True
        # Unless pods are replaced only after their end, a pod that is being deleted
        # counts as failed at once.
        return not self._failed_only and pod.metadata.deletion_timestamp is not None

    def _update_indexes(
        self, indexes: JobIndexes, old: Pod | None, new: Pod | None
    ) -> None:
        pod = old if new is None else new
        if pod is None:
            return
        was_active = old is not None and _is_active(old)
        is_active = new is not None and _is_active(new)
        if is_active and not was_active:
            indexes.enter(pod)
        elif was_active and not is_active:
            indexes.leave(pod)
        index = index_of(pod)
        if index is None:
            return
        took = old is not None and self._takes_index(old)
        takes = new is not None and self._takes_index(new)
        if takes and not took:
            indexes.take(index)
        elif took and not takes:
            indexes.free(index)

    def _takes_index(self, pod: Pod) -> bool:
        """Return whether a pod keeps its index from others.

        One that has succeeded does so until its index is counted.
        """
        phase = pod.status.phase
        if phase == "Succeeded":
            return True
        is_gone = pod.is_terminating and not self._failed_only
        return phase != "Failed" and not is_gone


def replaces_failed_only(job: Job) -> bool:
    """Return whether pods that are being deleted are replaced only at their end."""
    return job.spec.pod_replacement_policy == "Failed"


def _is_active(pod: Pod) -> bool:
    return not pod.is_finished and pod.metadata.deletion_timestamp is None


def _is_counted(pod: Pod, listed: UncountedTerminatedPods) -> bool:
    """Return whether the status of a loaded Job counts a pod, or lists it as next."""
    uid = pod.metadata.uid
    if uid in listed.succeeded or uid in listed.failed:
        return True
    # Without the tracking finalizer, a pod that has ended was counted by its own
    # cluster.
    return pod.is_finished and _FINALIZER not in pod.metadata.finalizers


def _counted_status(
    job: Job, members: Iterable[Pod], listed: UncountedTerminatedPods
) -> JobStatus:
    """Return the status with at least the loaded pods that are not tracked."""
    status = job.status
    ended = [pod.status.phase for pod in members if _is_counted(pod, listed)]
    return replace(
        status,
        # The larger number: a dump may lack the status or the pods.
        succeeded=max(
            status.succeeded + len(listed.succeeded), ended.count("Succeeded")
        ),
        failed=max(status.failed + len(listed.failed), ended.count("Failed")),
        uncounted_terminated_pods=_NOTHING,
    )
