"""Checks workloads.

Mirrors ``pkg/apis/apps/validation``, ``pkg/apis/batch/validation`` and
``ValidateReplicationController`` (Kubernetes v1.36), as far as scheduling depends on
it. The templates themselves are checked as pods are.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from quaymaster._api.objects import (
    DaemonSet,
    Deployment,
    Job,
    LabelSelector,
    PodTemplateSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import SelectorError
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector
from quaymaster._clusters.inmemory.admission.problems import Report
from quaymaster._clusters.inmemory.admission.strategy_checks import check_strategy
from quaymaster._clusters.inmemory.admission.syntax import (
    DNS_LABEL,
    DOMAIN_PATH,
    LABEL_VALUE,
)
from quaymaster._clusters.inmemory.admission.volume_checks import check_claim_spec

__all__ = [
    "SelectingWorkload",
    "check_job",
    "check_replication_controller",
    "check_selecting_workload",
]

SelectingWorkload: TypeAlias = Deployment | ReplicaSet | StatefulSet | DaemonSet

_RETENTION: Final = ("Retain", "Delete")
_POD_MANAGEMENT: Final = ("OrderedReady", "Parallel")
_COMPLETION_MODES: Final = ("NonIndexed", "Indexed")
_MAX_INDEXED_PARALLELISM: Final = 100_000
_LABELS_PATH: Final = "spec.template.metadata.labels"
_POLICY_PATH: Final = "spec.template.spec.restartPolicy"
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NEW_UID: Final = "(a new uid)"


def check_selecting_workload(workload: SelectingWorkload, report: Report) -> None:
    """Check that the selector selects the pods of the template."""
    spec = workload.spec
    check_selector(spec.selector, "spec.selector", report)
    # For a DaemonSet without one, the server reports that it does not select its pods.
    is_missing = spec.selector is None and not isinstance(workload, DaemonSet)
    if is_missing or spec.selector == LabelSelector():
        report.add("spec.selector", "expected a selector of the template's labels")
    _check_selects(spec.selector, spec.template, report)
    _check_lasting(spec.template, report)
    report.at_least(spec.min_ready_seconds, "spec.minReadySeconds")
    if not isinstance(workload, DaemonSet):
        report.at_least(workload.spec.replicas, "spec.replicas")
    if isinstance(workload, Deployment):
        _check_deadline(workload, report)
    if isinstance(workload, StatefulSet):
        _check_stateful_set(workload, report)
    if not isinstance(workload, ReplicaSet):
        check_strategy(workload, report)


def check_replication_controller(rc: ReplicationController, report: Report) -> None:
    """Check that there is a template, and that the selector (filled in) selects it."""
    report.at_least(rc.spec.replicas, "spec.replicas")
    report.at_least(rc.spec.min_ready_seconds, "spec.minReadySeconds")
    if not rc.spec.selector:
        report.add("spec.selector", "expected a selector of the template's labels")
    if rc.spec.template is None:
        report.add("spec.template", "expected a pod template, got none")
        return
    labels = rc.spec.template.metadata.labels
    if rc.spec.selector and not rc.spec.selector.items() <= labels.items():
        report.add(_LABELS_PATH, f"expected labels of spec.selector, got {labels}")
    _check_lasting(rc.spec.template, report)


def check_job(job: Job, report: Report) -> None:
    """Check the counts of a Job with its defaults, and that its pods can end."""
    spec = job.spec
    for field, count in (
        ("parallelism", spec.parallelism),
        ("completions", spec.completions),
        ("activeDeadlineSeconds", spec.active_deadline_seconds),
        ("backoffLimit", spec.backoff_limit),
    ):
        report.at_least(count, f"spec.{field}")
    report.one_of(spec.completion_mode or "", _COMPLETION_MODES, "spec.completionMode")
    if spec.completion_mode == "Indexed":
        _check_indexed_job(job, report)
    if spec.managed_by is not None:
        report.formed(spec.managed_by, DOMAIN_PATH, "spec.managedBy")
    policy = spec.template.spec.restart_policy
    report.one_of(policy, ("OnFailure", "Never"), _POLICY_PATH)
    if spec.manual_selector:
        _check_manual_selector(job, report)
    else:
        _check_generated_selector(job, report)


def _check_lasting(template: PodTemplateSpec, report: Report) -> None:
    """Check that pods which never end restart always and have no deadline."""
    report.one_of(template.spec.restart_policy, ("Always",), _POLICY_PATH)
    if template.spec.active_deadline_seconds is not None:
        path = "spec.template.spec.activeDeadlineSeconds"
        report.add(path, "expected none but in Jobs and pods")


def _check_deadline(workload: Deployment, report: Report) -> None:
    path = "spec.progressDeadlineSeconds"
    deadline, minimum = (
        workload.spec.progress_deadline_seconds,
        workload.spec.min_ready_seconds,
    )
    report.at_least(deadline, path)
    if deadline is not None and 0 <= deadline <= minimum:
        expected = f"more than minReadySeconds ({minimum})"
        report.expect(False, path, expected, deadline)


def _check_stateful_set(workload: StatefulSet, report: Report) -> None:
    spec = workload.spec
    path = "spec.podManagementPolicy"
    report.one_of(spec.pod_management_policy, _POD_MANAGEMENT, path)
    policy = spec.persistent_volume_claim_retention_policy
    if policy is not None:
        path = "spec.persistentVolumeClaimRetentionPolicy"
        report.one_of(policy.when_deleted, _RETENTION, f"{path}.whenDeleted")
        report.one_of(policy.when_scaled, _RETENTION, f"{path}.whenScaled")
    if spec.ordinals is not None:
        report.at_least(spec.ordinals.start, "spec.ordinals.start")
    if spec.service_name:
        report.formed(spec.service_name, DNS_LABEL, "spec.serviceName")
    for index, claim in enumerate(spec.volume_claim_templates):
        path = f"spec.volumeClaimTemplates[{index}].spec"
        check_claim_spec(claim.spec, path, report)


def _check_indexed_job(job: Job, report: Report) -> None:
    spec = job.spec
    if spec.completions is None:
        report.add("spec.completions", "expected a number, since it is Indexed")
    elif spec.completions > 0 and job.name:
        last = f"{job.name}-{spec.completions - 1}"
        if not DNS_LABEL.fits(last):
            expected = "a name that is a DNS label with each index"
            report.expect(False, "metadata.name", expected, last)
    if (spec.parallelism or 0) > _MAX_INDEXED_PARALLELISM:
        expected = f"at most {_MAX_INDEXED_PARALLELISM}, since it is Indexed"
        report.expect(False, "spec.parallelism", expected, spec.parallelism)


def _check_manual_selector(job: Job, report: Report) -> None:
    selector = job.spec.selector
    if selector is None:
        report.add("spec.selector", "expected one beside manualSelector, got none")
    check_selector(selector, "spec.selector", report)
    _check_selects(selector, job.spec.template, report)


def _check_generated_selector(job: Job, report: Report) -> None:
    """Check that no given field contradicts the generated selector.

    A Job that was read from a cluster has a selector made from its uid, which may have
    been removed since.
    """
    given = job.spec.template.metadata.labels
    own = dict.fromkeys(_NAME_LABELS, job.name)
    for label in _UID_LABELS:
        own[label] = job.uid or given.get(label, _NEW_UID)
    if job.name and not set(_NAME_LABELS) <= given.keys():
        report.formed(job.name, LABEL_VALUE, "spec.template.labels")
    for label, value in own.items():
        got = given.get(label, value)
        if got != value and job.name:
            path = f"{_LABELS_PATH}[{label}]"
            report.expect(False, path, "the Job's own or none", got)
    selector = job.spec.selector
    check_selector(selector, "spec.selector", report)
    if selector is not None and _selects(selector, own) is False:
        report.add("spec.selector", "expected none without manualSelector")


def _check_selects(
    selector: LabelSelector | None, template: PodTemplateSpec, report: Report
) -> None:
    labels = template.metadata.labels
    if _selects(selector, labels) is False:
        message = f"expected labels that spec.selector selects, got {labels}"
        report.add(_LABELS_PATH, message)


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool | None:
    """Return whether a selector selects an object; None if it cannot be evaluated."""
    try:
        return compile_label_selector(selector).matches(labels)
    except SelectorError:
        return None
