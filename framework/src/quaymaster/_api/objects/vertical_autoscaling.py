"""VerticalPodAutoscalers, which decide what new pods request.

Mirrors kubernetes/autoscaler, vertical-pod-autoscaler v1.7,
``pkg/apis/autoscaling.k8s.io/v1/types.go``.
"""

from typing import ClassVar

import msgspec

from quaymaster._api.objects.autoscaling import CrossVersionObjectReference
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.quantity import Quantity

__all__ = [
    "ContainerResourcePolicy",
    "PodResourcePolicy",
    "PodUpdatePolicy",
    "RecommendedContainerResources",
    "RecommendedPodResources",
    "VerticalPodAutoscaler",
    "VerticalPodAutoscalerSpec",
    "VerticalPodAutoscalerStatus",
]


class PodUpdatePolicy(ApiValue, frozen=True, kw_only=True):
    """How a recommendation is applied.

    Attributes:
        update_mode: ``Off``, ``Initial``, ``Recreate`` (also if None), ``Auto``,
            ``InPlaceOrRecreate`` or ``InPlace``.
    """

    update_mode: str | None = None
    min_replicas: Int32 | None = None
    eviction_requirements: object = None
    evict_after_oom_seconds: Int32 | None = msgspec.field(
        default=None, name="evictAfterOOMSeconds"
    )


class ContainerResourcePolicy(ApiValue, frozen=True, kw_only=True):
    """The bounds of the recommendation for a container.

    Attributes:
        container_name: The container; ``*`` for those without a policy of their own.
        mode: ``Auto`` (also if None) or ``Off``.
        min_allowed: The least amount of each resource.
        max_allowed: The largest amount of each resource.
        controlled_resources: The resources that are recommended; None is ``cpu`` and
            ``memory``.
        controlled_values: ``RequestsAndLimits`` (also if None) or ``RequestsOnly``.
    """

    container_name: str = ""
    mode: str | None = None
    min_allowed: dict[str, Quantity] = {}
    max_allowed: dict[str, Quantity] = {}
    controlled_resources: tuple[str, ...] | None = None
    controlled_values: str | None = None
    oom_bump_up_ratio: Quantity | None = msgspec.field(
        default=None, name="oomBumpUpRatio"
    )
    oom_min_bump_up: Quantity | None = msgspec.field(default=None, name="oomMinBumpUp")
    memory_aggregation_interval_seconds: Int32 | None = None
    memory_aggregation_interval_count: Int64 | None = None
    startup_boost: object = None


class PodResourcePolicy(ApiValue, frozen=True, kw_only=True):
    """The bounds of a recommendation."""

    container_policies: tuple[ContainerResourcePolicy, ...] = ()


class VerticalPodAutoscalerSpec(ApiValue, frozen=True, kw_only=True):
    """The workload whose pods are changed, and how.

    Attributes:
        target_ref: The workload.
        update_policy: How the recommendation is applied.
        resource_policy: The bounds of the recommendation.
    """

    target_ref: CrossVersionObjectReference | None = None
    update_policy: PodUpdatePolicy | None = None
    resource_policy: PodResourcePolicy | None = None
    recommenders: object = None
    startup_boost: object = None


class RecommendedContainerResources(ApiValue, frozen=True, kw_only=True):
    """The recommendation for a container.

    Attributes:
        target: What it should request.
        lower_bound: The least amounts that may be enough.
        upper_bound: The amounts beyond which resources are wasted.
        uncapped_target: The target without policies.
    """

    container_name: str = ""
    target: dict[str, Quantity] = {}
    lower_bound: dict[str, Quantity] = {}
    upper_bound: dict[str, Quantity] = {}
    uncapped_target: dict[str, Quantity] = {}


class RecommendedPodResources(ApiValue, frozen=True, kw_only=True):
    """The recommendation for the containers of a pod."""

    container_recommendations: tuple[RecommendedContainerResources, ...] = ()


class VerticalPodAutoscalerStatus(ApiValue, frozen=True, kw_only=True):
    """The status of an autoscaler, with its latest recommendation."""

    recommendation: RecommendedPodResources | None = None
    conditions: object = None
    observed_generation: Int64 | None = None


class VerticalPodAutoscaler(ApiObject, frozen=True, kw_only=True):
    """Decides what the new pods of a workload request."""

    api_version: ClassVar[str] = "autoscaling.k8s.io/v1"
    kind: ClassVar[str] = "VerticalPodAutoscaler"

    spec: VerticalPodAutoscalerSpec = VerticalPodAutoscalerSpec()
    status: VerticalPodAutoscalerStatus = VerticalPodAutoscalerStatus()
