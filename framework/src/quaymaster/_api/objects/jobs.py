"""Jobs, which run pods to completion, their policies, and CronJobs.

Mirrors k8s.io/api v0.37, ``batch/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.groups import (
    BasicSchedulingPolicy,
    DisruptionMode,
    PodGroupResourceClaim,
    PodGroupSchedulingConstraints,
)
from quaymaster._api.objects.meta import (
    ApiObject,
    ApiValue,
    LabelSelector,
    ObjectMeta,
)
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.pod import PodTemplateSpec
from quaymaster._api.objects.time import Time

__all__ = [
    "CronJob",
    "CronJobSpec",
    "Job",
    "JobCondition",
    "JobSchedulingConfiguration",
    "JobSpec",
    "JobStatus",
    "JobTemplateSpec",
    "PodFailurePolicy",
    "PodFailurePolicyOnExitCodesRequirement",
    "PodFailurePolicyOnPodConditionsPattern",
    "PodFailurePolicyRule",
    "SuccessPolicy",
    "SuccessPolicyRule",
    "UncountedTerminatedPods",
    "WorkloadPodGroupGangSchedulingPolicy",
    "WorkloadPodGroupSchedulingPolicy",
]


class PodFailurePolicyOnExitCodesRequirement(ApiValue, frozen=True, kw_only=True):
    """Exit codes of a failed container.

    Attributes:
        container_name: The container; None is each container.
        operator: ``In`` or ``NotIn``.
        values: The exit codes; 0 never matches.
    """

    container_name: str | None = None
    operator: str = ""
    values: tuple[Int32, ...] = ()


class PodFailurePolicyOnPodConditionsPattern(ApiValue, frozen=True, kw_only=True):
    """A condition of a failed pod; an empty status means ``True``."""

    type: str = ""
    status: str = ""


class PodFailurePolicyRule(ApiValue, frozen=True, kw_only=True):
    """An action for failed pods, by exit codes or by conditions.

    Attributes:
        action: ``FailJob``, ``FailIndex``, ``Ignore`` or ``Count``.
        on_exit_codes: The exit codes to which the rule applies.
        on_pod_conditions: Or the conditions of the pods that it is for.
    """

    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(ApiValue, frozen=True, kw_only=True):
    """What failed pods mean for their Job; the first rule that matches counts."""

    rules: tuple[PodFailurePolicyRule, ...] = ()


class SuccessPolicyRule(ApiValue, frozen=True, kw_only=True):
    """When an Indexed Job has succeeded.

    Attributes:
        succeeded_indexes: The indexes that must succeed, such as ``0,3-5``.
        succeeded_count: How many indexes must succeed, of those or of all.
    """

    succeeded_indexes: str | None = None
    succeeded_count: Int32 | None = None


class SuccessPolicy(ApiValue, frozen=True, kw_only=True):
    """When an Indexed Job has succeeded early; any rule suffices."""

    rules: tuple[SuccessPolicyRule, ...] = ()


class WorkloadPodGroupGangSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """Schedule the pods of a Job together.

    Mirrors k8s.io/api v0.37, ``scheduling/v1alpha3/types.go``.

    Attributes:
        min_count: The number of pods that must fit at the same time; None: as many as
            run at once.
    """

    min_count: Int32 | None = None


class WorkloadPodGroupSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """How the pods of a Job are scheduled: exactly one attribute is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: WorkloadPodGroupGangSchedulingPolicy | None = None


class JobSchedulingConfiguration(ApiValue, frozen=True, kw_only=True):
    """The group that the pods of a Job are scheduled with."""

    scheduling_policy: WorkloadPodGroupSchedulingPolicy | None = None
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()


class JobSpec(ApiValue, frozen=True, kw_only=True):
    """How many pods must succeed, and how many may run at once.

    Attributes:
        active_deadline_seconds: How long the Job may run before it fails.
        pod_failure_policy: What failed pods mean for the Job.
        success_policy: When an Indexed Job has succeeded early.
        backoff_limit: How many pods may fail.
        backoff_limit_per_index: How many pods of an index may fail.
        max_failed_indexes: How many indexes may fail.
        completion_mode: ``NonIndexed`` (also if None) or ``Indexed``.
        ttl_seconds_after_finished: How long the Job stays after its end.
        pod_replacement_policy: ``TerminatingOrFailed``, or ``Failed``: pods that are
            being deleted are replaced when they have ended.
        managed_by: The controller that creates its pods; None is the cluster's own.
        scheduling: The group of its pods; None unless the feature gate WorkloadWithJob
            is on.
    """

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    active_deadline_seconds: Int64 | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    backoff_limit: Int32 | None = None
    backoff_limit_per_index: Int32 | None = None
    max_failed_indexes: Int32 | None = None
    managed_by: str | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    manual_selector: bool | None = None
    ttl_seconds_after_finished: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    pod_replacement_policy: str | None = None
    scheduling: JobSchedulingConfiguration | None = None


class JobCondition(ApiValue, frozen=True, kw_only=True):
    """A condition of a Job, such as ``Complete``.

    Attributes:
        type: ``Complete``, ``Failed``, ``SuccessCriteriaMet``, ``FailureTarget`` or
            ``Suspended``.
        status: ``True``, ``False`` or ``Unknown``.
    """

    type: str = ""
    status: str = ""
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class UncountedTerminatedPods(ApiValue, frozen=True, kw_only=True):
    """The uids of pods that have ended and are not in the counts yet."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a Job.

    Attributes:
        start_time: When it was started, or resumed last.
        completion_time: When it was complete.
        active: The number of its pods that run or will run.
        terminating: The number of its pods that are being deleted.
        ready: The number of its active pods that are ready.
        completed_indexes: Numbers and ranges, such as ``0,3-5``.
        failed_indexes: The same for indexes that are not tried again.
    """

    conditions: tuple[JobCondition, ...] = ()
    start_time: Time | None = None
    completion_time: Time | None = None
    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    terminating: Int32 | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    ready: Int32 | None = None


class Job(ApiObject, frozen=True, kw_only=True):
    """Runs pods until enough of them have succeeded."""

    api_version: ClassVar[str] = "batch/v1"
    kind: ClassVar[str] = "Job"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplateSpec(ApiValue, frozen=True, kw_only=True):
    """The Jobs that a CronJob creates."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(ApiValue, frozen=True, kw_only=True):
    """When Jobs are created.

    Attributes:
        schedule: The times, as five fields or as ``@daily``.
        time_zone: The time zone of the schedule; None is that of the controller.
        starting_deadline_seconds: How late a Job may be created.
        concurrency_policy: ``Allow``, ``Forbid`` or ``Replace`` an unfinished Job.
        suspend: Whether no further Jobs are created.
    """

    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: Int64 | None = None
    concurrency_policy: str = ""
    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()
    successful_jobs_history_limit: Int32 | None = None
    failed_jobs_history_limit: Int32 | None = None


class CronJob(ApiObject, frozen=True, kw_only=True):
    """Creates Jobs at set times; the in-memory cluster stores it and creates none."""

    api_version: ClassVar[str] = "batch/v1"
    kind: ClassVar[str] = "CronJob"

    spec: CronJobSpec = CronJobSpec()
    status: object = None
