"""CapacityBuffers: spare capacity that the cluster autoscaler keeps.

Mirrors ``apis/config/crd/autoscaling.x-k8s.io_capacitybuffers.yaml`` and
``capacitybuffer/constants.go``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from quaymaster._api.objects.meta import ApiObject, ApiValue, Conversion
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._studies.autoscaling.cluster_autoscaler.object_conditions import (
    Condition,
)

__all__ = [
    "ACTIVE_CAPACITY",
    "LIMITED_BY_QUOTAS",
    "PROVISIONING",
    "READY_FOR_PROVISIONING",
    "BufferSpec",
    "BufferStatus",
    "CapacityBuffer",
    "NamedObject",
    "ScalableObject",
    "unchanged",
]

ACTIVE_CAPACITY: Final = "buffer.x-k8s.io/active-capacity"
READY_FOR_PROVISIONING: Final = "ReadyForProvisioning"
PROVISIONING: Final = "Provisioning"
LIMITED_BY_QUOTAS: Final = "LimitedByQuotas"


class NamedObject(ApiValue, frozen=True, kw_only=True):
    """The name of an object in the same namespace."""

    name: str = ""


class ScalableObject(ApiValue, frozen=True, kw_only=True):
    """A workload in the same namespace."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class BufferSpec(ApiValue, frozen=True, kw_only=True):
    """How much capacity a buffer keeps.

    Attributes:
        pod_template_ref: The PodTemplate of its pods.
        scalable_ref: The workload whose pods its pods are like.
        replicas: The number of its pods.
        percentage: Their number as a percentage of the workload's pods.
        limits: The most that its pods may request in all.
    """

    provisioning_strategy: str = ACTIVE_CAPACITY
    pod_template_ref: NamedObject | None = None
    scalable_ref: ScalableObject | None = None
    replicas: Int32 | None = None
    percentage: Int32 | None = None
    limits: dict[str, Quantity] | None = None


class BufferStatus(ApiValue, frozen=True, kw_only=True):
    """What the controller of buffers has found.

    Attributes:
        pod_template_ref: The PodTemplate of its pods, which the controller keeps.
        replicas: The number of its pods.
    """

    pod_template_ref: NamedObject | None = None
    pod_template_generation: Int64 | None = None
    replicas: Int32 | None = None
    provisioning_strategy: str | None = None
    conditions: tuple[Condition, ...] = ()


def unchanged(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object of another version, whose fields are the same."""
    return tree


class CapacityBuffer(ApiObject, frozen=True, kw_only=True):
    """Capacity that virtual pods hold, until real pods need it."""

    api_version: ClassVar[str] = "autoscaling.x-k8s.io/v1beta1"
    kind: ClassVar[str] = "CapacityBuffer"
    plural: ClassVar[str] = "capacitybuffers"
    conversions: ClassVar[Mapping[str, Conversion]] = {
        "autoscaling.x-k8s.io/v1alpha1": unchanged,
    }

    spec: BufferSpec = BufferSpec()
    status: BufferStatus = BufferStatus()
