"""Checks workloads.

Mirrors ``pkg/apis/apps/validation`` and ``ValidateReplicationController`` (Kubernetes
v1.36), as far as scheduling depends on it. `job_checks` has the Jobs. The templates
themselves are checked as pods are.
"""

from typing import Final, TypeAlias

from quaymaster._api.objects import (
    DaemonSet,
    Deployment,
    LabelSelector,
    PodTemplateSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import DNS_LABEL
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector
from quaymaster._clusters.inmemory.admission.selected_pods import (
    LABELS_PATH,
    POLICY_PATH,
    check_selects,
)
from quaymaster._clusters.inmemory.admission.strategy_checks import check_strategy
from quaymaster._clusters.inmemory.admission.volume_checks import check_claim_spec

__all__ = [
    "SelectingWorkload",
    "check_replication_controller",
    "check_selecting_workload",
]

SelectingWorkload: TypeAlias = Deployment | ReplicaSet | StatefulSet | DaemonSet

_RETENTION: Final = ("Retain", "Delete")
_POD_MANAGEMENT: Final = ("OrderedReady", "Parallel")


def check_selecting_workload(workload: SelectingWorkload, report: Report) -> None:
    """Check that the selector selects the pods of the template."""
    spec = workload.spec
    check_selector(spec.selector, "spec.selector", report)
    # For a DaemonSet without one, the server reports that it does not select its pods.
    is_missing = spec.selector is None and not isinstance(workload, DaemonSet)
    if is_missing or spec.selector == LabelSelector():
        report.add("spec.selector", "expected a selector of the template's labels")
    # A selector that does not select its own pods would make the controller create pods
    # without end.
    check_selects(spec.selector, spec.template, report)
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
        report.add(LABELS_PATH, f"expected labels of spec.selector, got {labels}")
    _check_lasting(rc.spec.template, report)


def _check_lasting(template: PodTemplateSpec, report: Report) -> None:
    """Check that pods which never end restart always and have no deadline."""
    report.one_of(template.spec.restart_policy, ("Always",), POLICY_PATH)
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
    # A negative deadline is reported already.
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
    # Optional: a StatefulSet without a Service runs, only without stable host names.
    if spec.service_name:
        report.formed(spec.service_name, DNS_LABEL, "spec.serviceName")
    for index, claim in enumerate(spec.volume_claim_templates):
        path = f"spec.volumeClaimTemplates[{index}].spec"
        check_claim_spec(claim.spec, path, report)
