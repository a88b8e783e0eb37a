"""Sets the sizes that autoscalers give to their workloads, as the caller chooses."""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    HorizontalPodAutoscaler,
    HPAScalingRules,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.controllers.autoscalers import target_id
from quaymaster._clusters.inmemory.controllers.scale_targets import Scaled, TargetId
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    PAUSED_REPLICAS_ANNOTATION,
    autoscaler_limits,
    idle_size,
    is_forced,
    is_paused,
    least_replicas,
    most_jobs,
    pauses_scale_in,
    pauses_scale_out,
)
from quaymaster._studies.simulation.scheduled_sizes import notices_of_schedules

__all__ = ["AutoscalerSize", "notices_of_sizes", "with_autoscaler_size"]

_SCALE_TO_ZERO: Final = ("Object", "External")
"""The metrics that exist without pods."""

_SHOWN: Final = 3


class AutoscalerSize(enum.StrEnum):
    """The size of workloads that have an autoscaler, of Kubernetes or of KEDA."""

    MIN = "min"
    """Each has as many pods as at the lowest load."""

    MAX = "max"
    """Each has as many pods as at the highest load."""

    AS_IT_IS = "as-it-is"
    """Each keeps its number of replicas, within the limits."""


def with_autoscaler_size(
    objects: Iterable[ApiObject], size: AutoscalerSize | None
) -> list[ApiObject]:
    """Return objects whose autoscalers give this size to their workloads.

    A workload without replicas keeps none, since its HorizontalPodAutoscaler is
    disabled, unless that autoscaler itself has scaled it to zero; but a ScaledObject of
    KEDA activates it. The size of a paused workload stays.
    """
    objects = list(objects)
    if size is None or size is AutoscalerSize.AS_IT_IS:
        return objects
    sizes = _sizes_around_zero(objects, size)
    return [_with_replicas(_with_size(obj, size), sizes) for obj in objects]


def _sizes_around_zero(
    objects: Iterable[ApiObject], size: AutoscalerSize
) -> dict[TargetId, int]:
    """Return the sizes of workloads that go to zero, or come back from there.

    Without pods an autoscaler is disabled in this simulation, so its limits do not
    give such a size. Mirrors ``reconcileAutoscaler`` of
    ``pkg/controller/podautoscaler/horizontal.go`` (Kubernetes v1.37).
    """
    sizes: dict[TargetId, int] = {}
    for scaler in objects:
        if not isinstance(scaler, HorizontalPodAutoscaler):
            continue
        target = target_id(scaler)
        if target is None:
            continue
        is_least = size is AutoscalerSize.MIN
        if is_least and scaler.spec.min_replicas == 0 and _may_shrink(scaler):
            sizes[target] = 0
        elif not is_least and _is_scaled_to_zero(scaler) and _may_grow(scaler):
            sizes[target] = scaler.spec.max_replicas
    return sizes


def _is_scaled_to_zero(scaler: HorizontalPodAutoscaler) -> bool:
    """Return whether an autoscaler has taken the last pod, and may create it again."""
    return any(m.type in _SCALE_TO_ZERO for m in scaler.spec.metrics) and any(
        condition.type == "ScaledToZero" and condition.status == "True"
        for condition in scaler.status.conditions
    )


def _with_replicas(obj: ApiObject, sizes: Mapping[TargetId, int]) -> ApiObject:
    if not sizes or not isinstance(obj, Scaled):
        return obj
    replicas = sizes.get((type(obj), obj.key))
    if replicas is None:
        return obj
    return replace(obj, spec=replace(obj.spec, replicas=replicas))


def _with_size(obj: ApiObject, size: AutoscalerSize) -> ApiObject:
    if isinstance(obj, HorizontalPodAutoscaler):
        return _sized(obj, size)
    if isinstance(obj, ScaledObject) and not is_paused(obj):
        return _smallest(obj) if size is AutoscalerSize.MIN else _largest(obj)
    if isinstance(obj, ScaledJob) and size is AutoscalerSize.MAX:
        return replace(obj, spec=replace(obj.spec, min_replica_count=most_jobs(obj)))
    return obj


def _smallest(scaled: ScaledObject) -> ScaledObject:
    """Return a ScaledObject that acts as if no trigger were active."""
    if pauses_scale_in(scaled):
        return scaled
    forced = max(1, least_replicas(scaled))
    return _at(scaled, forced if is_forced(scaled) else idle_size(scaled))


def _largest(scaled: ScaledObject) -> ScaledObject:
    """Return a ScaledObject that acts as if its triggers were very active."""
    if pauses_scale_out(scaled):
        return scaled
    return _at(scaled, autoscaler_limits(scaled)[1])


def _at(scaled: ScaledObject, replicas: int) -> ScaledObject:
    """Return a ScaledObject that keeps its workload at one size."""
    if not replicas:
        annotations = {**scaled.annotations, PAUSED_REPLICAS_ANNOTATION: "0"}
        metadata = replace(scaled.metadata, annotations=annotations)
        return replace(scaled, metadata=metadata)
    spec = replace(
        scaled.spec,
        idle_replica_count=None,
        min_replica_count=replicas,
        max_replica_count=replicas,
    )
    return replace(scaled, spec=spec)


def notices_of_sizes(
    objects: Iterable[ApiObject],
    size: AutoscalerSize | None,
    option: str = "--hpa min, max or as-it-is",
) -> Sequence[Notice]:
    """Return notices if sizes that depend on metrics or schedules are assumed to stay.

    Args:
        objects: All objects.
        size: The size that the caller has chosen; None if it is assumed.
        option: What chooses a size.
    """
    if size is not None:
        return ()
    objects = list(objects)
    return (
        *_notices_of_metrics(objects, option),
        *notices_of_schedules(objects, option),
    )


def _notices_of_metrics(objects: Iterable[ApiObject], option: str) -> Iterator[Notice]:
    """Yield a notice about the autoscalers that follow metrics in the cluster."""
    assumed = [
        obj
        for obj in objects
        if isinstance(obj, HorizontalPodAutoscaler) and _is_assumed(obj)
    ]
    if not assumed:
        return
    names = listed([obj.key for obj in assumed], _SHOWN)
    verb = "follows" if len(assumed) == 1 else "follow"
    message = (
        f"{counted(len(assumed), 'HorizontalPodAutoscaler')} {verb} metrics in the "
        "cluster; here the sizes of their workloads are assumed to stay, within the "
        f"limits ({option} chooses): {names}"
    )
    yield Notice(reason=NoticeReason.ASSUMED_SIZES, message=message)


def _is_assumed(scaler: HorizontalPodAutoscaler) -> bool:
    """Return whether metrics may give another size than the one of today.

    They do not if no metrics exist, if the limits are equal, or if the behavior
    disables both directions.
    """
    spec, status = scaler.spec, scaler.status
    least = 1 if spec.min_replicas is None else spec.min_replicas
    is_active = all(
        condition.status != "False"
        for condition in status.conditions
        if condition.type == "ScalingActive"
    )
    is_fixed = least >= spec.max_replicas or not (
        _may_grow(scaler) or _may_shrink(scaler)
    )
    return bool(status.current_metrics) and is_active and not is_fixed


def _may_grow(scaler: HorizontalPodAutoscaler) -> bool:
    behavior = scaler.spec.behavior
    return behavior is None or not _is_disabled(behavior.scale_up)


def _may_shrink(scaler: HorizontalPodAutoscaler) -> bool:
    behavior = scaler.spec.behavior
    return behavior is None or not _is_disabled(behavior.scale_down)


def _is_disabled(rules: HPAScalingRules | None) -> bool:
    return rules is not None and rules.select_policy == "Disabled"


def _sized(
    scaler: HorizontalPodAutoscaler, size: AutoscalerSize
) -> HorizontalPodAutoscaler:
    """Return an autoscaler with one size; metrics never pass a disabled direction."""
    spec, is_least = scaler.spec, size is AutoscalerSize.MIN
    if not (_may_shrink(scaler) if is_least else _may_grow(scaler)):
        return scaler
    if size is AutoscalerSize.MAX:
        return replace(scaler, spec=replace(spec, min_replicas=spec.max_replicas))
    least = 1 if spec.min_replicas is None else spec.min_replicas
    # A maximum of 0 is not valid, and a workload without load has one pod at most.
    return replace(scaler, spec=replace(spec, max_replicas=max(least, 1)))
