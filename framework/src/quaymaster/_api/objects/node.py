"""Nodes.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``.
"""

from typing import ClassVar

from msgspec import field

from quaymaster._api.objects.affinity import Taint
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time

__all__ = [
    "AttachedVolume",
    "ContainerImage",
    "Node",
    "NodeCondition",
    "NodeSpec",
    "NodeStatus",
    "NodeSwapStatus",
    "NodeSystemInfo",
]


class NodeSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a node, which administrators write.

    Attributes:
        pod_cidr: The first of `pod_cidrs`.
        pod_cidrs: The networks of its pods' addresses, one for each family.
    """

    pod_cidr: str = field(default="", name="podCIDR")
    pod_cidrs: tuple[str, ...] = field(default=(), name="podCIDRs")
    provider_id: str = field(default="", name="providerID")
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(ApiValue, frozen=True, kw_only=True):
    """A condition of a node, such as ``Ready``: true, false or unknown."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None


class ContainerImage(ApiValue, frozen=True, kw_only=True):
    """An image that a node has."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class AttachedVolume(ApiValue, frozen=True, kw_only=True):
    """A volume that is attached to a node."""

    name: str = ""
    device_path: str = ""


class NodeSwapStatus(ApiValue, frozen=True, kw_only=True):
    """The swap of a node; its capacity is in bytes."""

    capacity: Int64 | None = None


class NodeSystemInfo(ApiValue, frozen=True, kw_only=True):
    """The part of a node's system information that the API server validates."""

    swap: NodeSwapStatus | None = None


class NodeStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a node: its capacity, images and conditions.

    Attributes:
        allocatable: What pods may use; the rest of `capacity` is for the system.
        declared_features: The features that the node's kubelet reports.
    """

    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}
    conditions: tuple[NodeCondition, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()
    images: tuple[ContainerImage, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(ApiObject, frozen=True, kw_only=True):
    """A machine that runs pods."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
