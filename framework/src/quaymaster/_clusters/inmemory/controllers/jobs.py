"""Jobs: pods that end, with a limit on running pods and on completions.

Mirrors ``pkg/controller/job`` (Kubernetes v1.36). A pod ends only if its template has
the annotation ``simulation.quaymaster.io/run-seconds``. Failed pods are replaced at
once, without upstream's backoff. Pods that only the Job's status mentions are counted.
A finished Job stays as it is.
"""

import heapq
from typing import Final

from quaymaster._api.objects import Job, Pod
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.deletion_order import deletion_order
from quaymaster._clusters.inmemory.controllers.families import Families, Family
from quaymaster._clusters.inmemory.controllers.job_progress import (
    Progress,
    index_of,
    is_ending,
    is_finished,
)
from quaymaster._clusters.inmemory.controllers.pods import (
    add_pods,
    pod_of_template,
)
from quaymaster._clusters.inmemory.names import limit_base
from quaymaster._core.contract.cluster import EventNote

__all__ = ["JobController"]

_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_OUR_NAME: Final = "kubernetes.io/job-controller"


class JobController:
    """Creates and deletes the pods of Jobs until they are done."""

    def __init__(self, cluster: ClusterAccess, families: Families) -> None:
        self._cluster = cluster
        self._families = families
        self._done: set[str] = set()
        self._progress: dict[str, Progress] = {}
        self._indexes: dict[str, _Indexes] = {}

    def sync(self, job: Job) -> None:
        """Create the pods that may run now, and delete those that may not."""
        if job.metadata.deletion_timestamp is not None or job.uid in self._done:
            return
        if is_finished(job):
            self._done.add(job.uid)
            return
        family = self._families.of(job.uid)
        progress = self._progress_of(job, family)
        if job.spec.managed_by not in (None, _OUR_NAME):
            missing = _wanted(job, family, progress) - len(family.active)
            self._cluster.shortfalls.add(
                job, missing, refusal=f"{job.spec.managed_by} manages this Job"
            )
        elif is_ending(job):
            self._done.add(job.uid)
            self._shrink(family, len(family.active))
        elif _has_failed(job, family, progress):
            self._finish(job, family, "Warning", "BackoffLimitExceeded")
        elif _is_complete(job, family, progress):
            self._finish(job, family, "Normal", "Completed")
        else:
            self._adjust(job, family, progress)

    def pod_changed(self, uid: str, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created, changed or removed."""
        indexes = self._indexes.get(uid)
        pod = old if new is None else new
        if indexes is not None and pod is not None:
            indexes.update(pod, is_there=new is not None)

    def forget(self, uid: str) -> None:
        """Drop the state of a removed Job."""
        self._done.discard(uid)
        self._progress.pop(uid, None)
        self._indexes.pop(uid, None)

    def _progress_of(self, job: Job, family: Family) -> Progress:
        progress = self._progress.get(job.uid)
        if progress is None:
            progress = self._progress[job.uid] = Progress(job, family, self._cluster)
        return progress

    def _adjust(self, job: Job, family: Family, progress: Progress) -> None:
        missing = _wanted(job, family, progress) - len(family.active)
        if missing < 0:
            self._shrink(family, -missing)
        elif job.spec.completion_mode == "Indexed":
            self._start_indexed(job, family, progress, missing)
        elif missing:
            add_pods(self._cluster, job, _job_pod(job), missing)

    def _start_indexed(
        self, job: Job, family: Family, progress: Progress, count: int
    ) -> None:
        indexes = self._indexes.get(job.uid)
        if indexes is None:
            indexes = self._indexes[job.uid] = _Indexes(progress)
            pods = self._cluster.objects(Pod)
            for key in family:
                indexes.update(pods[key], is_there=True)
        for started in range(count):
            index = indexes.lowest_open()
            if index >= (job.spec.completions or 0):
                return
            if not add_pods(self._cluster, job, _job_pod(job, index)):
                self._cluster.shortfalls.add(job, count - started - 1)
                return

    def _shrink(self, family: Family, count: int) -> None:
        pods = self._cluster.objects(Pod)
        active = [pods[key] for key in family.active]
        for pod in deletion_order(active, self._cluster.clock.now())[:count]:
            self._cluster.delete(pod)

    def _finish(self, job: Job, family: Family, event_type: str, reason: str) -> None:
        self._done.add(job.uid)
        self._shrink(family, len(family.active))
        self._cluster.record(
            EventNote(
                regarding=job,
                type=event_type,
                reason=reason,
                action="Sync",
                note="Job completed" if reason == "Completed" else "Job has failed",
                reporter="job-controller",
            )
        )


class _Indexes:
    """The completion indexes that need no pod, since one runs or has succeeded.

    Args:
        progress: Has the indexes that never need a pod again.
    """

    __slots__ = ("_free", "_next", "_progress", "_taken")

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._taken: set[int] = set()
        self._free: list[int] = []
        self._next = 0

    def update(self, pod: Pod, *, is_there: bool) -> None:
        index, phase = index_of(pod), pod.status.phase
        if index is None or self._progress.end_of_done(index) is not None:
            return
        holds = phase == "Succeeded" or (
            is_there and phase != "Failed" and not pod.is_terminating
        )
        if holds:
            self._taken.add(index)
        elif index in self._taken:
            self._taken.discard(index)
            heapq.heappush(self._free, index)

    def lowest_open(self) -> int:
        while self._free:
            index = self._free[0]
            if index not in self._taken:
                return index
            heapq.heappop(self._free)
        while True:
            end = self._progress.end_of_done(self._next)
            if end is not None:
                self._next = end
            elif self._next in self._taken:
                self._next += 1
            else:
                return self._next


def _job_pod(job: Job, index: int | None = None) -> Pod:
    template = job.spec.template
    labels = dict.fromkeys(_NAME_LABELS, job.name) | dict.fromkeys(_UID_LABELS, job.uid)
    labels |= template.metadata.labels
    if index is None:
        return pod_of_template(job, template, labels=labels)
    number = {_INDEX: str(index)}
    return pod_of_template(
        job,
        template,
        base=limit_base(job.name, f"-{index}-"),
        labels=labels | number,
        annotations=number,
    )


def _wanted(job: Job, family: Family, progress: Progress) -> int:
    """Return the number of pods that may run at once now."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.suspend:
        return 0
    succeeded = progress.succeeded(family)
    if job.spec.completions is not None:
        return max(0, min(parallelism, job.spec.completions - succeeded))
    # Without completions, the first pod that succeeds ends the Job.
    return len(family.active) if succeeded else parallelism


def _has_failed(job: Job, family: Family, progress: Progress) -> bool:
    if job.spec.backoff_limit_per_index is None:
        return progress.failed(family) > (job.spec.backoff_limit or 0)
    failed = len(progress.failed_for_good)
    over = progress.succeeded(family) + failed >= (job.spec.completions or 0)
    return failed > 0 and over


def _is_complete(job: Job, family: Family, progress: Progress) -> bool:
    succeeded = progress.succeeded(family)
    if job.spec.completions is not None:
        return succeeded >= job.spec.completions
    return bool(succeeded) and not family.active and not family.leaving
