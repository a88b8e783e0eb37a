"""Sets the sizes that autoscalers give to their workloads, as the caller chooses."""

import enum
from collections.abc import Iterable

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, HorizontalPodAutoscaler

__all__ = ["AutoscalerSize", "with_autoscaler_size"]


class AutoscalerSize(enum.StrEnum):
    """The size of workloads that have a HorizontalPodAutoscaler."""

    MIN = "min"
    """Each has as many pods as at the lowest load."""

    MAX = "max"
    """Each has as many pods as at the highest load."""

    AS_IT_IS = "as-it-is"
    """Each keeps its number of replicas, within the limits."""


def with_autoscaler_size(
    objects: Iterable[ApiObject], size: AutoscalerSize
) -> list[ApiObject]:
    """Return objects whose autoscalers give this size to their workloads.

    A workload without replicas keeps none, since its autoscaler is disabled.
    """
    if size is AutoscalerSize.AS_IT_IS:
        return list(objects)
    return [
        _sized(obj, size) if isinstance(obj, HorizontalPodAutoscaler) else obj
        for obj in objects
    ]


def _sized(
    scaler: HorizontalPodAutoscaler, size: AutoscalerSize
) -> HorizontalPodAutoscaler:
    spec = scaler.spec
    if size is AutoscalerSize.MAX:
        return replace(scaler, spec=replace(spec, min_replicas=spec.max_replicas))
    least = 1 if spec.min_replicas is None else spec.min_replicas
    # A maximum of 0 is not valid, and a workload without load has one pod at most.
    return replace(scaler, spec=replace(spec, max_replicas=max(least, 1)))
