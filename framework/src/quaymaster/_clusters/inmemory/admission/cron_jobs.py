"""Fills in and checks CronJobs.

Mirrors ``SetDefaults_CronJob`` (Kubernetes v1.37, ``pkg/apis/batch/v1/defaults.go``)
and ``ValidateCronJobCreate`` (``pkg/apis/batch/validation/validation.go``).
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    CronJob,
    CronJobSpec,
    Job,
    JobSpec,
    PodTemplateSpec,
)
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.cron_schedules import (
    is_time_zone,
    schedule_problem,
)
from quaymaster._clusters.inmemory.admission.job_checks import check_job
from quaymaster._clusters.inmemory.admission.job_defaults import default_job_spec

__all__ = ["changed_cron_job", "cron_job_admission"]

_POLICIES: Final = ("Allow", "Forbid", "Replace")
_LONGEST_NAME: Final = 52
"""Its Jobs have a dash and ten digits more."""
_SUCCESSFUL: Final = 3
_FAILED: Final = 1
_JOB: Final = "spec.jobTemplate.spec"

_AdmitTemplate = Callable[[PodTemplateSpec, Report], PodTemplateSpec]


def cron_job_admission(
    admit_template: _AdmitTemplate, kubernetes: Kubernetes
) -> Callable[[CronJob, Report], CronJob]:
    """Return a function that admits CronJobs.

    Args:
        admit_template: Fills in and checks the template of pods, at ``spec.template``.
        kubernetes: The Kubernetes version whose API server is simulated.
    """

    def admit(cron_job: CronJob, report: Report) -> CronJob:
        # On an update, `changed_cron_job` has already run with the old object, which
        # may keep fields of a disabled gate.
        if not is_already_admitted(cron_job):
            cron_job = changed_cron_job(cron_job, None, kubernetes)
        # The check of the template reports paths of a Job; they are moved under the
        # CronJob's path below, so that users find the field.
        spec = _with_defaults(cron_job.spec)
        part = Report()
        job_spec = _job_spec(spec.job_template.spec, admit_template, part)
        for path, message in part:
            report.add(path.replace("spec", _JOB, 1), message)
        _check_times(spec, report)
        if not is_already_admitted(cron_job):
            _check_new(cron_job, report)
        template = replace(spec.job_template, spec=job_spec)
        return replace(cron_job, spec=replace(spec, job_template=template))

    return admit


def changed_cron_job(
    new: CronJob, old: CronJob | None, kubernetes: Kubernetes
) -> CronJob:
    """Return a CronJob as the API server reads it: fields of gates are left out.

    Args:
        new: The CronJob.
        old: The CronJob before a change, whose fields stay; None for a new one.
        kubernetes: The Kubernetes version whose API server is simulated.
    """
    template = new.spec.job_template
    if template.spec.scheduling is None:
        return new
    # Few Jobs have a group, whose rules are many.
    from quaymaster._clusters.inmemory.admission.job_groups import (  # noqa: PLC0415 - above
        without_gated_group,
    )

    before = None if old is None else old.spec.job_template.spec
    spec = without_gated_group(template.spec, before, kubernetes)
    template = replace(template, spec=spec)
    return replace(new, spec=replace(new.spec, job_template=template))


def _with_defaults(spec: CronJobSpec) -> CronJobSpec:
    successful = spec.successful_jobs_history_limit
    failed = spec.failed_jobs_history_limit
    return replace(
        spec,
        concurrency_policy=spec.concurrency_policy or "Allow",
        suspend=bool(spec.suspend),
        successful_jobs_history_limit=_SUCCESSFUL if successful is None else successful,
        failed_jobs_history_limit=_FAILED if failed is None else failed,
    )


def _job_spec(spec: JobSpec, admit_template: _AdmitTemplate, report: Report) -> JobSpec:
    """Return the spec of the Jobs with its template filled in, and check it.

    The server fills in the other fields when a Job is created, and checks some of them
    without these defaults.
    """
    spec = replace(spec, template=admit_template(spec.template, report))
    # ``validateJobSpec`` reads completions without a default: an indexed Job in a
    # CronJob must name them, while the default would hide that it does not.
    full = replace(default_job_spec(spec), completions=spec.completions)
    # Jobs get a selector of their own.
    check_job(Job(spec=replace(full, selector=None, manual_selector=None)), report)
    if spec.selector is not None:
        report.add("spec.selector", "expected none, since each Job gets its own")
    if spec.manual_selector:
        report.expect(False, "spec.manualSelector", "false or none", True)
    # The one default of a Job's own fields that is stored in a CronJob: its function
    # belongs to a nested type (``SetDefaults_PodFailurePolicyOnPodConditionsPattern``),
    # not to Jobs.
    return replace(spec, pod_failure_policy=full.pod_failure_policy)


def _check_times(spec: CronJobSpec, report: Report) -> None:
    report.at_least(spec.starting_deadline_seconds, "spec.startingDeadlineSeconds")
    report.one_of(spec.concurrency_policy, _POLICIES, "spec.concurrencyPolicy")
    limits = spec.successful_jobs_history_limit, spec.failed_jobs_history_limit
    report.at_least(limits[0], "spec.successfulJobsHistoryLimit")
    report.at_least(limits[1], "spec.failedJobsHistoryLimit")


def _check_new(cron_job: CronJob, report: Report) -> None:
    """Check what an earlier server may have accepted."""
    if len(cron_job.name) > _LONGEST_NAME:
        expected = f"at most {_LONGEST_NAME} characters"
        report.expect(False, "metadata.name", expected, cron_job.name)
    schedule, zone = cron_job.spec.schedule, cron_job.spec.time_zone
    if not schedule:
        report.add("spec.schedule", "expected one, such as 0 3 * * *, got none")
    # Upstream searches the text, too. No field of a schedule can contain the letters
    # otherwise, neither the names of days nor of months.
    elif "TZ" in schedule:
        expected = "none with TZ or CRON_TZ, since timeZone has the time zone"
        report.expect(False, "spec.schedule", expected, schedule)
    elif problem := schedule_problem(schedule):
        report.add("spec.schedule", f"{problem}, got {schedule!r}")
    if zone is not None and not is_time_zone(zone):
        expected = "a time zone such as Europe/Rome"
        report.expect(False, "spec.timeZone", expected, zone)
