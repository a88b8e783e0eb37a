"""How many pods a ScaledObject of KEDA gives to its workload, without metrics.

Mirrors kedacore/keda v2.20: ``apis/keda/v1alpha1/scaledobject_types.go`` for limits and
annotations, and ``RequestScale`` of ``pkg/scaling/executor/scale_scaledobjects.go`` for
sizes. The size stays as it is wherever it depends on whether a trigger is active.
"""

from typing import Final

from quaymaster._api.objects.keda import ScaledJob, ScaledObject, ScaleTarget
from quaymaster._clusters.inmemory.controllers.scale_targets import (
    TargetId,
    scaled_kind,
)

__all__ = [
    "PAUSED_REPLICAS_ANNOTATION",
    "autoscaler_limits",
    "autoscaler_name",
    "idle_size",
    "is_forced",
    "is_paused",
    "least_jobs",
    "least_replicas",
    "most_jobs",
    "paused_replicas",
    "pauses_scale_in",
    "pauses_scale_out",
    "scaled_size",
    "target_id_of",
]

PAUSED_REPLICAS_ANNOTATION: Final = "autoscaling.keda.sh/paused-replicas"
_PAUSED: Final = "autoscaling.keda.sh/paused"
_PAUSED_SCALE_IN: Final = "autoscaling.keda.sh/paused-scale-in"
_PAUSED_SCALE_OUT: Final = "autoscaling.keda.sh/paused-scale-out"
_FORCED: Final = "autoscaling.keda.sh/force-activation"
_FALSE: Final = ("0", "f", "F", "false", "FALSE", "False")
_LARGEST: Final = 2**31 - 1
_MOST: Final = 100
"""The largest number of replicas, or of Jobs, if none is set."""


def target_id_of(scaled: ScaledObject) -> TargetId | None:
    """Return the workload of a ScaledObject; None for custom kinds."""
    reference = scaled.spec.scale_target_ref or ScaleTarget()
    api_version = reference.api_version or "apps/v1"
    kind = scaled_kind(api_version, reference.kind or "Deployment")
    return None if kind is None else (kind, f"{scaled.namespace}/{reference.name}")


def autoscaler_name(scaled: ScaledObject) -> str:
    """Return the name of the HorizontalPodAutoscaler that KEDA creates."""
    advanced = scaled.spec.advanced
    config = None if advanced is None else advanced.horizontal_pod_autoscaler_config
    own = "" if config is None else config.name
    return own or f"keda-hpa-{scaled.name}"


def autoscaler_limits(scaled: ScaledObject) -> tuple[int, int]:
    """Return the limits of the HorizontalPodAutoscaler that KEDA creates."""
    most = scaled.spec.max_replica_count
    # KEDA scales to and from 0 itself; its autoscaler never goes below 1.
    return max(1, least_replicas(scaled)), _MOST if most is None else most


def least_replicas(scaled: ScaledObject) -> int:
    """Return the least number of replicas while a trigger is active."""
    return scaled.spec.min_replica_count or 0


def idle_size(scaled: ScaledObject) -> int:
    """Return the number of replicas while no trigger is active."""
    idle = scaled.spec.idle_replica_count
    return least_replicas(scaled) if idle is None else idle


def is_paused(scaled: ScaledObject | ScaledJob) -> bool:
    """Return whether KEDA leaves the size of a workload alone."""
    if isinstance(scaled, ScaledObject) and PAUSED_REPLICAS_ANNOTATION in (
        scaled.annotations
    ):
        return True
    return _is_set(scaled, _PAUSED)


def paused_replicas(scaled: ScaledObject) -> int | None:
    """Return the size that a workload is paused at, or None for its own."""
    text = scaled.annotations.get(PAUSED_REPLICAS_ANNOTATION, "")
    digits = text.removeprefix("+")
    # As ``strconv.ParseInt`` for 32 bits, which accepts a plus sign.
    if not (digits.isascii() and digits.isdecimal()):
        return None
    return int(digits) if len(digits) <= 10 and int(digits) <= _LARGEST else None


def pauses_scale_in(scaled: ScaledObject) -> bool:
    """Return whether a workload never gets smaller because of triggers."""
    return _is_set(scaled, _PAUSED_SCALE_IN)


def pauses_scale_out(scaled: ScaledObject) -> bool:
    """Return whether a workload never gets larger because of triggers."""
    return _is_set(scaled, _PAUSED_SCALE_OUT)


def is_forced(scaled: ScaledObject) -> bool:
    """Return whether an annotation makes the workload active."""
    return _is_set(scaled, _FORCED)


def scaled_size(scaled: ScaledObject, replicas: int) -> int:
    """Return the size that KEDA itself gives to a workload of some size.

    Its HorizontalPodAutoscaler corrects sizes beyond the limits, but not a size of 0.
    """
    if is_paused(scaled):
        paused = paused_replicas(scaled)
        return replicas if paused is None else paused
    least, is_idle_set = (
        least_replicas(scaled),
        scaled.spec.idle_replica_count is not None,
    )
    if is_forced(scaled):
        if (not replicas or (is_idle_set and replicas < least)) and not (
            pauses_scale_out(scaled)
        ):
            return max(1, least)
    elif not is_idle_set and replicas < least:
        return least
    return replicas


def least_jobs(scaled: ScaledJob) -> int:
    """Return the least number of unfinished Jobs of a ScaledJob."""
    return min(scaled.spec.min_replica_count or 0, most_jobs(scaled))


def most_jobs(scaled: ScaledJob) -> int:
    """Return the largest number of unfinished Jobs of a ScaledJob."""
    most = scaled.spec.max_replica_count
    return _MOST if most is None else most


def _is_set(scaled: ScaledObject | ScaledJob, annotation: str) -> bool:
    """Return whether an annotation is true; what is not a boolean counts as true."""
    value = scaled.annotations.get(annotation)
    # Like KEDA, which reads the annotation with ``strconv.ParseBool`` and takes an
    # error for true.
    return value is not None and value not in _FALSE
