"""Checks Jobs: their counts, their selector, and the labels of their pods.

Mirrors ``ValidateJobCreate`` and what it calls (Kubernetes v1.37,
``pkg/apis/batch/validation/validation.go``). `job_policies` has the policies.
"""

from typing import Final

from quaymaster._api.objects import Job, JobSpec
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import (
    DNS_LABEL,
    DOMAIN_PATH,
    LABEL_VALUE,
)
from quaymaster._clusters.inmemory.admission.job_policies import check_job_policies
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector
from quaymaster._clusters.inmemory.admission.selected_pods import (
    LABELS_PATH,
    POLICY_PATH,
    check_selects,
    selects,
)

__all__ = ["check_job"]

_COMPLETION_MODES: Final = ("NonIndexed", "Indexed")
# These limits cap the length of ``completedIndexes`` and ``failedIndexes`` in the
# status.
_MOST_INDEXES: Final = 100_000
"""The largest parallelism and number of failed indexes of an Indexed Job."""
_MOST_AT_ONCE: Final = 10_000
"""The same with a backoff limit per index and more than 100,000 completions."""
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NEW_UID: Final = "(a new uid)"


def check_job(job: Job, report: Report) -> None:
    """Check a Job with its defaults, and that its pods can end."""
    _check_counts(job.spec, report)
    _check_mode(job, report)
    check_job_policies(job.spec, report)
    policy = job.spec.template.spec.restart_policy
    # With a policy, pods must not restart in place: the controller judges the exit
    # codes of pods that have ended.
    allowed = ("Never",) if job.spec.pod_failure_policy else ("OnFailure", "Never")
    report.one_of(policy, allowed, POLICY_PATH)
    if job.spec.manual_selector:
        _check_manual_selector(job, report)
    else:
        _check_generated_selector(job, report)


def _check_counts(spec: JobSpec, report: Report) -> None:
    for field, count in (
        ("parallelism", spec.parallelism),
        ("completions", spec.completions),
        ("activeDeadlineSeconds", spec.active_deadline_seconds),
        ("backoffLimit", spec.backoff_limit),
        ("ttlSecondsAfterFinished", spec.ttl_seconds_after_finished),
        ("backoffLimitPerIndex", spec.backoff_limit_per_index),
        ("maxFailedIndexes", spec.max_failed_indexes),
    ):
        report.at_least(count, f"spec.{field}")
    if spec.max_failed_indexes is not None and spec.backoff_limit_per_index is None:
        message = "expected a limit beside maxFailedIndexes, got none"
        report.add("spec.backoffLimitPerIndex", message)
    if spec.managed_by is not None:
        report.formed(spec.managed_by, DOMAIN_PATH, "spec.managedBy")


def _check_mode(job: Job, report: Report) -> None:
    mode = job.spec.completion_mode or ""
    report.one_of(mode, _COMPLETION_MODES, "spec.completionMode")
    if mode == "Indexed":
        _check_indexed_job(job, report)
    elif mode == "NonIndexed":
        for field, limit in (
            ("backoffLimitPerIndex", job.spec.backoff_limit_per_index),
            ("maxFailedIndexes", job.spec.max_failed_indexes),
        ):
            if limit is not None:
                expected = "none, since the Job is not Indexed"
                report.expect(False, f"spec.{field}", expected, limit)


def _check_indexed_job(job: Job, report: Report) -> None:
    spec = job.spec
    if spec.completions is None:
        report.add("spec.completions", "expected a number, since it is Indexed")
    # The last index is the longest name of a pod. A Job with a generated name is not
    # checked: its name does not exist yet.
    elif spec.completions > 0 and job.name:
        last = f"{job.name}-{spec.completions - 1}"
        if not DNS_LABEL.fits(last):
            expected = "a name that is a DNS label with each index"
            report.expect(False, "metadata.name", expected, last)
    reason = "since it is Indexed"
    _check_most(spec.parallelism, "parallelism", _MOST_INDEXES, reason, report)
    limit = spec.max_failed_indexes
    if limit is not None and spec.completions is not None and limit > spec.completions:
        expected = f"at most the completions ({spec.completions})"
        report.expect(False, "spec.maxFailedIndexes", expected, limit)
    _check_most(limit, "maxFailedIndexes", _MOST_INDEXES, reason, report)
    if (spec.completions or 0) > _MOST_INDEXES and (
        spec.backoff_limit_per_index is not None
    ):
        _check_huge_job(spec, report)


def _check_huge_job(spec: JobSpec, report: Report) -> None:
    """Check an Indexed Job whose indexes may be too many for its status."""
    reason = f"beside backoffLimitPerIndex and more than {_MOST_INDEXES} completions"
    if spec.max_failed_indexes is None:
        report.add("spec.maxFailedIndexes", f"expected a number {reason}, got none")
    for field, count in (
        ("parallelism", spec.parallelism),
        ("maxFailedIndexes", spec.max_failed_indexes),
    ):
        _check_most(count, field, _MOST_AT_ONCE, reason, report)


def _check_most(
    count: int | None, field: str, most: int, reason: str, report: Report
) -> None:
    if count is not None and count > most:
        report.expect(False, f"spec.{field}", f"at most {most}, {reason}", count)


def _check_manual_selector(job: Job, report: Report) -> None:
    selector = job.spec.selector
    if selector is None:
        report.add("spec.selector", "expected one beside manualSelector, got none")
    check_selector(selector, "spec.selector", report)
    check_selects(selector, job.spec.template, report)


def _check_generated_selector(job: Job, report: Report) -> None:
    """Check that no given field contradicts the generated selector.

    A Job that was read from a cluster has a selector made from its uid, which may have
    been removed since.
    """
    # The labels are checked as the strategy would set them (``generateSelector``),
    # since the selector of a manifest has none of them yet.
    labels = job.spec.template.metadata.labels
    own = dict.fromkeys(_NAME_LABELS, job.name)
    for label in _UID_LABELS:
        own[label] = job.uid or labels.get(label, _NEW_UID)
    if job.name and not set(_NAME_LABELS) <= labels.keys():
        report.formed(job.name, LABEL_VALUE, "spec.template.labels")
    for label, value in own.items():
        actual = labels.get(label, value)
        if actual != value and job.name:
            path = f"{LABELS_PATH}[{label}]"
            report.expect(False, path, "the Job's own or none", actual)
    selector = job.spec.selector
    check_selector(selector, "spec.selector", report)
    if selector is not None and selects(selector, own) is False:
        report.add("spec.selector", "expected none without manualSelector")
