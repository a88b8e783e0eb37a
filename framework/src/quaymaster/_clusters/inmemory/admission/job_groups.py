"""Checks the group that a Job describes for its pods.

Mirrors ``validateGangMinCount``, ``validateJobScheduling`` and
``validateJobSchedulingUpdate`` (Kubernetes v1.37,
``pkg/apis/batch/validation/validation.go``), ``DropDisabledFields`` in
``pkg/api/job/util.go``, and the tags in k8s.io/api v0.37, ``batch/v1/types.go``.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import JobSchedulingConfiguration, JobSpec
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.field_errors import invalid
from quaymaster._clusters.inmemory.admission.field_rules import Scope
from quaymaster._clusters.inmemory.admission.group_rules import JOB

__all__ = ["check_job_group", "without_gated_group"]

_GATE: Final = "WorkloadWithJob"
_PATH: Final = "spec.scheduling"
_POLICY: Final = f"{_PATH}.schedulingPolicy"


def without_gated_group(
    new: JobSpec, old: JobSpec | None, kubernetes: Kubernetes
) -> JobSpec:
    """Return the spec of Jobs as the API server reads it: a group needs its gate.

    Args:
        new: The spec of a Job, or of the Jobs of a CronJob.
        old: The spec before a change; None for a new object.
        kubernetes: The Kubernetes version whose API server is simulated.
    """
    is_kept = old is not None and old.scheduling is not None
    if new.scheduling is None or is_kept or kubernetes.enabled(_GATE):
        return new
    return replace(new, scheduling=None)


def check_job_group(
    new: JobSpec, old: JobSpec | None, kubernetes: Kubernetes, report: Report
) -> None:
    """Check the group of a Job, whose other fields are filled in.

    Args:
        new: The spec.
        old: The spec before a change; None for a new Job.
        kubernetes: The Kubernetes version whose API server is simulated.
        report: Collects the problems.
    """
    if new.scheduling is not None:
        for path, message in _problems(new, new.scheduling):
            report.add(path, message)
    if old is not None and _has_other_policy(new, old):
        detail = (
            "the basic/gang policy variant is immutable after creation; only "
            "schedulingPolicy.gang.minCount may be updated"
        )
        report.add(_POLICY, invalid(None, detail))
    gates = {_GATE} if kubernetes.enabled(_GATE) else ()
    Scope(report, gates, is_update=old is not None).check(JOB, new, old, "spec")


def _problems(
    spec: JobSpec, group: JobSchedulingConfiguration
) -> Iterator[tuple[str, str]]:
    policy, mode = group.scheduling_policy, group.disruption_mode
    gang = None if policy is None else policy.gang
    # The Job may be checked inside a CronJob, whose template has no defaults.
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if gang is not None and (gang.min_count or 0) > parallelism:
        detail = f"must not be greater than parallelism ({parallelism})"
        yield f"{_POLICY}.gang.minCount", invalid(gang.min_count, detail)
    # No policy means basic: the controller creates such a group by default.
    is_basic = policy is None or policy.basic is not None
    if is_basic and mode is not None and mode.all is not None:
        detail = (
            "the disruptionMode `all` is not supported with the Basic scheduling policy"
        )
        yield f"{_PATH}.disruptionMode", invalid("", detail)


def _has_other_policy(new: JobSpec, old: JobSpec) -> bool:
    """Return whether a basic group has become a gang, or the reverse."""
    if new.scheduling is None or old.scheduling is None:
        return False
    policy, before = new.scheduling.scheduling_policy, old.scheduling.scheduling_policy
    if policy is None or before is None:
        return False
    return (policy.basic is None) is not (before.basic is None)
