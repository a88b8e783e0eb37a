"""Jobs: pods that end, with a limit on running pods and on completions.

Mirrors ``pkg/controller/job`` and ``pkg/controller/ttlafterfinished`` (Kubernetes
v1.37), without the second for which upstream collects changes of pods. Pods succeed
only if their template has the annotation ``simulation.quaymaster.io/run-seconds``.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Job, JobStatus, Pod, PodGroup
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.families import Families, Family
from quaymaster._clusters.inmemory.controllers.job_conditions import (
    condition_of,
    is_finished,
)
from quaymaster._clusters.inmemory.controllers.job_failures import Backoff
from quaymaster._clusters.inmemory.controllers.job_pods import JobPods
from quaymaster._clusters.inmemory.controllers.job_sync import JobSync, desired_pods
from quaymaster._clusters.inmemory.controllers.pods import reason_of
from quaymaster._core.contract.clock import Timer
from quaymaster._core.contract.cluster import ApiError, EventNote

if TYPE_CHECKING:
    from quaymaster._clusters.inmemory.controllers.job_groups import JobGroups

__all__ = ["JobController"]

_OUR_NAME: Final = "kubernetes.io/job-controller"


class JobController:
    """Creates and deletes the pods of Jobs until they are done.

    Args:
        cluster: The cluster.
        families: The pods of each owner.
        mark: Is called with a Job's kind and key when it must be synced again.

    Attributes:
        groups: The groups of Jobs; None without the feature gate WorkloadWithJob.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        families: Families,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._mark = mark
        self.groups = _job_groups(cluster)
        self._pods: dict[str, JobPods] = {}
        self._backoffs: dict[str, Backoff] = {}
        self._ends: dict[str, float] = {}
        self._timers: dict[str, list[Timer]] = {}

    def sync(self, job: Job) -> None:
        """Create the pods that may run now, and delete those that may not."""
        if job.metadata.deletion_timestamp is not None:
            return
        # Each sync sets the timers that it needs; those of the last one would only
        # cause useless syncs.
        self._stop_timers(job.uid)
        if is_finished(job):
            self._expire(job)
            return
        family = self._families.of(job.uid)
        pods, job = self._pods_of(job)
        # Another controller creates these pods, and none is simulated. The shortfall
        # explains to users why there are none.
        if job.spec.managed_by not in (None, _OUR_NAME):
            parallelism = desired_pods(job, family, job.status.succeeded)
            self._cluster.shortfalls.add(
                job,
                parallelism - len(family.active),
                refusal=f"{job.spec.managed_by} manages this Job",
            )
            return
        backoff = self._backoffs.get(job.uid) or Backoff()
        try:
            group = self._group_of(job, family)
        # Without its group, no pod may be created: it could not join the group later.
        except ApiError as error:
            missing = desired_pods(job, family, job.status.succeeded)
            missing -= len(family.active)
            self._cluster.shortfalls.add(job, missing, refusal=reason_of(error))
            return
        sync = JobSync(self._cluster, job, family, pods, backoff, group)
        status = sync.run()
        self._backoffs[job.uid] = sync.backoff
        if sync.retry_after is not None:
            self._call_later(job, sync.retry_after)
        self._write(job, status)

    def pod_changed(self, uid: str, old: Pod | None, new: Pod | None) -> bool:
        """Handle a pod that was created, changed or removed.

        Returns:
            Whether its Job must be synced.
        """
        pods = self._pods.get(uid)
        return pods is not None and pods.update(old, new)

    def forget(self, uid: str) -> None:
        """Drop the state of a removed Job."""
        self._stop_timers(uid)
        self._pods.pop(uid, None)
        self._backoffs.pop(uid, None)
        self._ends.pop(uid, None)

    def _group_of(self, job: Job, family: Family) -> PodGroup | None:
        """Return the group of a Job's pods, or None.

        Raises:
            ApiError: The objects of the group cannot be created.
        """
        if self.groups is None:
            return None
        # Families have no length, and one pod is enough.
        return self.groups.sync(job, has_pods=any(True for _ in family))

    def _pods_of(self, job: Job) -> tuple[JobPods, Job]:
        """Return the pods of a Job, and the Job with the counts of loaded pods."""
        pods = self._pods.get(job.uid)
        family = self._families.of(job.uid)
        if pods is None:
            pods = self._pods[job.uid] = JobPods(job, family, self._cluster)
            # The first sync adopts the counts of loaded pods, which the stored Job does
            # not have yet.
            return pods, replace(job, status=pods.status)
        pods.follow_spec(job, family)
        return pods, job

    def _write(self, job: Job, status: JobStatus) -> None:
        """Store a new status, and report the end of the Job."""
        stored = self._cluster.objects(Job).get(job.key)
        # The sync may have led to the deletion of the Job.
        if stored is None or stored.uid != job.uid:
            return
        if stored.status != status:
            stored = self._cluster.change(stored, replace(stored, status=status))
        if is_finished(stored):
            self._record_end(stored)
            self._expire(stored)
        else:
            self._watch_deadline(stored)

    def _record_end(self, job: Job) -> None:
        failure = condition_of(job.status.conditions, "Failed")
        # The state of a finished Job is not needed any longer; a study may create
        # thousands of them.
        self._pods.pop(job.uid, None)
        self._backoffs.pop(job.uid, None)
        self._cluster.record(
            EventNote(
                regarding=job,
                type="Normal" if failure is None else "Warning",
                reason="Completed" if failure is None else failure.reason,
                action="Sync",
                note="Job completed" if failure is None else failure.message,
                reporter="job-controller",
            )
        )

    def _watch_deadline(self, job: Job) -> None:
        seconds, start = job.spec.active_deadline_seconds, job.status.start_time
        if seconds is None or start is None or job.spec.suspend:
            return
        left = start + seconds - self._cluster.clock.now()
        if left > 0:
            self._call_later(job, left, background=True)

    def _expire(self, job: Job) -> None:
        """Delete a finished Job when its time to live is over."""
        seconds = job.spec.ttl_seconds_after_finished
        if seconds is None:
            return
        # The end in a status may be another cluster's time.
        now = self._cluster.clock.now()
        left = self._ends.setdefault(job.uid, now) + seconds - now
        if left > 0:
            self._call_later(job, left, background=True)
        else:
            self._cluster.delete(job)

    def _call_later(
        self, job: Job, seconds: float, *, background: bool = False
    ) -> None:
        # A deadline alone does not keep a simulation going: it decides nothing that
        # the caller has not asked for.
        timer = self._cluster.clock.call_later(
            seconds, partial(self._mark, Job, job.key), background=background
        )
        self._timers.setdefault(job.uid, []).append(timer)

    def _stop_timers(self, uid: str) -> None:
        for timer in self._timers.pop(uid, ()):
            timer.cancel()


def _job_groups(cluster: ClusterAccess) -> "JobGroups | None":
    if not cluster.kubernetes.enabled("WorkloadWithJob"):
        return None
    from quaymaster._clusters.inmemory.controllers.job_groups import (  # noqa: PLC0415 - few clusters have the gate on
        JobGroups,
    )

    return JobGroups(cluster)
