"""ScaledJobs of KEDA: they create Jobs.

Mirrors ``RequestJobScale`` of ``pkg/scaling/executor/scale_jobs.go`` and
``deletePreviousVersionScaleJobs`` of ``controllers/keda/scaledjob_controller.go``
(kedacore/keda v2.20) without metrics: there are at least ``minReplicaCount`` unfinished
Jobs, and triggers create no more.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Job,
    JobSpec,
    ObjectMeta,
    PodTemplateSpec,
)
from quaymaster._api.objects.keda import ScaledJob
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._clusters.inmemory.controllers.polling import Polling
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    is_paused,
    least_jobs,
)

__all__ = ["ScaledJobController", "job_of"]

_POLLING_SECONDS: Final = 30
_HISTORY: Final = 100
_NAME_LABEL: Final = "scaledjob.keda.sh/name"
_GENERATION: Final = "scaledjob.keda.sh/generation"
_EXCLUDED_LABELS: Final = "scaledjob.keda.sh/job-excluded-labels"


class ScaledJobController:
    """Creates the Jobs of ScaledJobs.

    Args:
        cluster: The cluster.
        mark: Is called with a ScaledJob's kind and key when it must be synced.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._cluster = cluster
        self._mark = mark
        # Otherwise Jobs that end would keep a simulation going for ever.
        self._polling = Polling(cluster.clock, ScaledJob, mark, background=True)

    def scaled_job_changed(self, old: ScaledJob | None, new: ScaledJob | None) -> None:
        """Handle a ScaledJob that was created, changed or removed."""
        if new is None:
            if old is not None:
                self._delete(self._jobs_of(old))
            return
        if old is None:
            self._mark(ScaledJob, new.key)
        elif old.spec != new.spec or old.annotations != new.annotations:
            strategy = new.spec.rollout_strategy or new.spec.rollout.strategy
            # By default, KEDA deletes the Jobs of an older spec, also those that run.
            if old.spec != new.spec and strategy != "gradual" and not is_paused(new):
                self._delete(self._jobs_of(new))
            self._mark(ScaledJob, new.key)

    def job_changed(self, job: Job) -> None:
        """Handle a Job that was changed or removed."""
        name = job.labels.get(_NAME_LABEL)
        if not name:
            return
        scaled = self._cluster.objects(ScaledJob).get(f"{job.namespace}/{name}")
        if scaled is not None:
            jobs = self._jobs_of(scaled)
            has_too_many = bool(_beyond_history(scaled, jobs))
            # Polled only while there is something to do; see `Polling`.
            if has_too_many or _unfinished(jobs) < least_jobs(scaled):
                seconds = scaled.spec.polling_interval or _POLLING_SECONDS
                self._polling.wait(scaled, seconds)

    def sync(self, scaled: ScaledJob) -> None:
        """Create the Jobs that are missing, and delete old ones."""
        if is_paused(scaled) or scaled.spec.job_target_ref is None:
            return
        jobs = self._jobs_of(scaled)
        job = job_of(scaled, scaled.spec.job_target_ref)
        # A negative number makes no Jobs.
        for _ in range(least_jobs(scaled) - _unfinished(jobs)):
            self._cluster.add(self._cluster.admit(job))
        self._delete(_beyond_history(scaled, jobs))

    def _jobs_of(self, scaled: ScaledJob) -> list[Job]:
        return [
            job
            for job in self._cluster.objects(Job).values()
            if job.namespace == scaled.namespace
            and job.labels.get(_NAME_LABEL) == scaled.name
        ]

    def _delete(self, jobs: list[Job]) -> None:
        for job in jobs:
            self._cluster.delete(job)


def job_of(scaled: ScaledJob, spec: JobSpec) -> Job:
    """Return a Job of a ScaledJob."""
    excluded = scaled.annotations.get(_EXCLUDED_LABELS, "").split(",")
    own = {key: value for key, value in scaled.labels.items() if key not in excluded}
    labels = {
        "app.kubernetes.io/name": scaled.name,
        "app.kubernetes.io/part-of": scaled.name,
        "app.kubernetes.io/managed-by": "keda-operator",
        _NAME_LABEL: scaled.name,
        **own,
    }
    owner = owner_reference(scaled)
    generation = {_GENERATION: str(scaled.metadata.generation)}
    return Job(
        metadata=ObjectMeta(
            generate_name=f"{scaled.name}-",
            namespace=scaled.namespace,
            labels=labels,
            annotations=generation | scaled.annotations,
            owner_references=(owner,),
        ),
        spec=replace(spec, template=_template(scaled, spec.template)),
    )


def _template(scaled: ScaledJob, template: PodTemplateSpec) -> PodTemplateSpec:
    metadata = template.metadata
    labels = {**metadata.labels, _NAME_LABEL: scaled.name}
    policy = template.spec.restart_policy or "OnFailure"
    return replace(
        template,
        metadata=replace(metadata, labels=labels),
        spec=replace(template.spec, restart_policy=policy),
    )


def _end_of(job: Job) -> str:
    """Return the condition that a Job ended with; empty while it is unfinished."""
    for condition in job.status.conditions:
        if condition.type in ("Complete", "Failed") and condition.status == "True":
            return condition.type
    return ""


def _unfinished(jobs: list[Job]) -> int:
    return sum(not _end_of(job) for job in jobs)


def _beyond_history(scaled: ScaledJob, jobs: list[Job]) -> list[Job]:
    """Return the oldest finished Jobs, of which a ScaledJob keeps only some."""
    spec, beyond = scaled.spec, []
    for end, limit in (
        ("Complete", spec.successful_jobs_history_limit),
        ("Failed", spec.failed_jobs_history_limit),
    ):
        ended = [job for job in jobs if _end_of(job) == end]
        # Failed Jobs have no time of completion, and keep the order of their creation:
        # the sort is stable.
        ended.sort(key=lambda job: float(job.status.completion_time or 0.0))
        beyond += ended[: max(0, len(ended) - (_HISTORY if limit is None else limit))]
    return beyond
