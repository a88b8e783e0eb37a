"""Checks ScaledObjects and ScaledJobs, as KEDA's schema and webhook do.

Mirrors the validation markers and ``CheckReplicaCountBoundsAreValid`` of kedacore/keda
v2.20, ``apis/keda/v1alpha1``.
"""

from collections.abc import Callable
from typing import Final

from quaymaster._api.objects import Job
from quaymaster._api.objects.keda import (
    ScaledJob,
    ScaledObject,
    ScaleTarget,
    ScaleTrigger,
)
from quaymaster._api.objects.report import Report
from quaymaster._clusters.inmemory.controllers.scaled_jobs import job_of
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    PAUSED_REPLICAS_ANNOTATION,
    autoscaler_limits,
    is_paused,
    least_replicas,
    paused_replicas,
)

__all__ = ["check_scaled_object", "scaled_job_admission"]

_MOST: Final = "spec.maxReplicaCount"


def check_scaled_object(scaled: ScaledObject, report: Report) -> None:
    """Report what is wrong with a ScaledObject."""
    spec = scaled.spec
    reference = spec.scale_target_ref or ScaleTarget()
    if not reference.name:
        report.add("spec.scaleTargetRef.name", "expected the name of a workload")
    _check_triggers(spec.triggers, report)
    report.at_least(spec.polling_interval, "spec.pollingInterval", 1)
    report.at_least(spec.min_replica_count, "spec.minReplicaCount")
    report.at_least(spec.max_replica_count, _MOST, 1)
    least, (_, most) = least_replicas(scaled), autoscaler_limits(scaled)
    # A maximum below 1 has been reported already, and one message for it is enough.
    if spec.max_replica_count is None or spec.max_replica_count >= 1:
        report.at_least(most, _MOST, least)
    idle = spec.idle_replica_count
    report.at_least(idle, "spec.idleReplicaCount")
    if idle is not None and idle >= max(least, 1 if spec.min_replica_count == 0 else 0):
        expected = f"fewer than spec.minReplicaCount, {least}"
        report.expect(False, "spec.idleReplicaCount", expected, idle)
    if PAUSED_REPLICAS_ANNOTATION in scaled.annotations and (
        paused_replicas(scaled) is None
    ):
        path = f"metadata.annotations[{PAUSED_REPLICAS_ANNOTATION}]"
        text = scaled.annotations[PAUSED_REPLICAS_ANNOTATION]
        report.expect(False, path, "a number of replicas", text)


def scaled_job_admission(
    admit_job: Callable[[Job, Report], Job],
) -> Callable[[ScaledJob, Report], ScaledJob]:
    """Return a function that checks a ScaledJob, and the Job that it would create."""

    def admit(scaled: ScaledJob, report: Report) -> ScaledJob:
        spec = scaled.spec
        _check_triggers(spec.triggers, report)
        report.at_least(spec.polling_interval, "spec.pollingInterval", 1)
        report.at_least(spec.min_replica_count, "spec.minReplicaCount")
        report.at_least(spec.max_replica_count, _MOST, 1)
        if spec.job_target_ref is None:
            report.add("spec.jobTargetRef", "expected the spec of a Job")
        # KEDA creates nothing while it is paused, so a broken template does not matter
        # until then.
        elif not is_paused(scaled):
            part = Report()
            admit_job(job_of(scaled, spec.job_target_ref), part)
            for path, message in part:
                report.add(path.replace("spec", "spec.jobTargetRef", 1), message)
        return scaled

    return admit


def _check_triggers(triggers: tuple[ScaleTrigger, ...], report: Report) -> None:
    if not triggers:
        report.add("spec.triggers", "expected at least one trigger")
    for number, trigger in enumerate(triggers):
        if not trigger.type:
            report.add(f"spec.triggers[{number}].type", "expected the name of a scaler")
