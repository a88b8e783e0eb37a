"""HorizontalPodAutoscalers, which size other workloads.

Mirrors k8s.io/api v0.37, ``autoscaling/v2/types.go``.
"""

import builtins
from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject, ApiValue, LabelSelector
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time

__all__ = [
    "ContainerResourceMetricSource",
    "CrossVersionObjectReference",
    "ExternalMetricSource",
    "HPAScalingPolicy",
    "HPAScalingRules",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerBehavior",
    "HorizontalPodAutoscalerCondition",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "MetricIdentifier",
    "MetricSpec",
    "MetricStatus",
    "MetricTarget",
    "ObjectMetricSource",
    "PodsMetricSource",
    "ResourceMetricSource",
]


class CrossVersionObjectReference(ApiValue, frozen=True, kw_only=True):
    """The workload that is sized, or the object that a metric describes."""

    kind: str = ""
    name: str = ""
    api_version: str = ""


class MetricIdentifier(ApiValue, frozen=True, kw_only=True):
    """The name of a metric, and which of its series count; None is all."""

    name: str = ""
    selector: LabelSelector | None = None


class MetricTarget(ApiValue, frozen=True, kw_only=True):
    """The target of a metric.

    Attributes:
        type: ``Utilization``, ``Value`` or ``AverageValue``.
        value: The target of the whole metric.
        average_value: The target for each pod.
        average_utilization: The target for each pod, in percent of its request.
    """

    type: str = ""
    value: Quantity | None = None
    average_value: Quantity | None = None
    average_utilization: Int32 | None = None


class ObjectMetricSource(ApiValue, frozen=True, kw_only=True):
    """A metric of an object, such as the requests per second of an Ingress."""

    described_object: CrossVersionObjectReference = CrossVersionObjectReference()
    target: MetricTarget = MetricTarget()
    metric: MetricIdentifier = MetricIdentifier()


class PodsMetricSource(ApiValue, frozen=True, kw_only=True):
    """A metric of each pod of the workload."""

    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()


class ResourceMetricSource(ApiValue, frozen=True, kw_only=True):
    """How much of a resource, such as ``cpu``, the pods use."""

    name: str = ""
    target: MetricTarget = MetricTarget()


class ContainerResourceMetricSource(ApiValue, frozen=True, kw_only=True):
    """How much of a resource one container of each pod uses."""

    name: str = ""
    target: MetricTarget = MetricTarget()
    container: str = ""


class ExternalMetricSource(ApiValue, frozen=True, kw_only=True):
    """A metric from outside the cluster, such as the length of a queue."""

    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()


class MetricSpec(ApiValue, frozen=True, kw_only=True):
    """A metric, and the source of its type.

    Attributes:
        type: ``Resource``, ``ContainerResource``, ``Pods``, ``Object`` or
            ``External``.
    """

    type: str = ""
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None


class HPAScalingPolicy(ApiValue, frozen=True, kw_only=True):
    """How far a workload may be scaled in a period.

    Attributes:
        type: ``Pods`` or ``Percent``.
    """

    type: str = ""
    value: Int32 = 0
    period_seconds: Int32 = 0


class HPAScalingRules(ApiValue, frozen=True, kw_only=True):
    """How a workload is scaled in one direction.

    Attributes:
        stabilization_window_seconds: How long earlier recommendations count.
        select_policy: ``Max``, ``Min`` or ``Disabled``.
        policies: The policies; None is the default ones.
        tolerance: The smallest change of a metric that matters; None is the cluster's.
    """

    stabilization_window_seconds: Int32 | None = None
    select_policy: str | None = None
    policies: tuple[HPAScalingPolicy, ...] | None = None
    tolerance: Quantity | None = None


class HorizontalPodAutoscalerBehavior(ApiValue, frozen=True, kw_only=True):
    """How a workload is scaled up and down."""

    scale_up: HPAScalingRules | None = None
    scale_down: HPAScalingRules | None = None


class HorizontalPodAutoscalerSpec(ApiValue, frozen=True, kw_only=True):
    """The limits of a workload's size.

    Attributes:
        scale_target_ref: The workload.
        min_replicas: The least number of replicas; None is 1.
        max_replicas: The largest number of replicas.
        metrics: What the size depends on between the limits.
        behavior: How fast the size may change; None is as fast as by default.
    """

    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0
    metrics: tuple[MetricSpec, ...] = ()
    behavior: HorizontalPodAutoscalerBehavior | None = None


class HorizontalPodAutoscalerCondition(ApiValue, frozen=True, kw_only=True):
    """A condition, such as ``AbleToScale``, ``ScalingActive`` or ``ScaledToZero``."""

    type: str = ""
    status: str = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class MetricStatus(ApiValue, frozen=True, kw_only=True):
    """The last value of a metric, which no decision here depends on.

    Attributes:
        type: ``Resource``, ``ContainerResource``, ``Pods``, ``Object`` or
            ``External``.
    """

    type: str = ""
    object: builtins.object = None
    pods: builtins.object = None
    resource: builtins.object = None
    container_resource: builtins.object = None
    external: builtins.object = None


class HorizontalPodAutoscalerStatus(ApiValue, frozen=True, kw_only=True):
    """The status of an autoscaler."""

    last_scale_time: Time | None = None
    current_replicas: Int32 = 0
    desired_replicas: Int32 = 0
    current_metrics: tuple[MetricStatus, ...] = ()
    conditions: tuple[HorizontalPodAutoscalerCondition, ...] = ()


class HorizontalPodAutoscaler(ApiObject, frozen=True, kw_only=True):
    """Sizes a workload between two limits."""

    api_version: ClassVar[str] = "autoscaling/v2"
    kind: ClassVar[str] = "HorizontalPodAutoscaler"

    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()
