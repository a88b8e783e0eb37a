"""HorizontalPodAutoscalers, which size other workloads.

Mirrors k8s.io/api v0.37, ``autoscaling/v2/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.time import Time

__all__ = [
    "CrossVersionObjectReference",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerCondition",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "MetricSpec",
]


class CrossVersionObjectReference(ApiValue, frozen=True, kw_only=True):
    """The workload that is sized."""

    kind: str = ""
    name: str = ""
    api_version: str = ""


class MetricSpec(ApiValue, frozen=True, kw_only=True):
    """A metric.

    Attributes:
        type: ``Resource``, ``ContainerResource``, ``Pods``, ``Object`` or
            ``External``.
    """

    type: str = ""


class HorizontalPodAutoscalerSpec(ApiValue, frozen=True, kw_only=True):
    """The limits of a workload's size.

    Attributes:
        scale_target_ref: The workload.
        min_replicas: The least number of replicas; None is 1.
        max_replicas: The largest number of replicas.
        metrics: What the size depends on between the limits.
    """

    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0
    metrics: tuple[MetricSpec, ...] = ()


class HorizontalPodAutoscalerCondition(ApiValue, frozen=True, kw_only=True):
    """A condition, such as ``AbleToScale``, ``ScalingActive`` or ``ScaledToZero``."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class HorizontalPodAutoscalerStatus(ApiValue, frozen=True, kw_only=True):
    """The status of an autoscaler."""

    last_scale_time: Time | None = None
    current_replicas: Int32 = 0
    desired_replicas: Int32 = 0
    conditions: tuple[HorizontalPodAutoscalerCondition, ...] = ()


class HorizontalPodAutoscaler(ApiObject, frozen=True, kw_only=True):
    """Sizes a workload between two limits."""

    api_version: ClassVar[str] = "autoscaling/v2"
    kind: ClassVar[str] = "HorizontalPodAutoscaler"

    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()
