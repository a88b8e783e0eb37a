"""The built-in kinds of Kubernetes that scheduling uses, and their names in the API."""

from functools import cache
from typing import Final

from quaymaster._api.objects.autoscaling import HorizontalPodAutoscaler
from quaymaster._api.objects.core import (
    Binding,
    Event,
    Lease,
    Namespace,
    Service,
)
from quaymaster._api.objects.device_claims import (
    ResourceClaim,
    ResourceClaimTemplate,
)
from quaymaster._api.objects.device_taints import (
    DeviceTaintRule,
)
from quaymaster._api.objects.devices import (
    DeviceClass,
    ResourceSlice,
)
from quaymaster._api.objects.groups import CompositePodGroup, PodGroup, Workload
from quaymaster._api.objects.jobs import CronJob, Job
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._api.objects.limits import (
    LimitRange,
    ResourceQuota,
)
from quaymaster._api.objects.meta import ApiObject
from quaymaster._api.objects.node import (
    Node,
)
from quaymaster._api.objects.pod import (
    Pod,
)
from quaymaster._api.objects.policy import (
    PodDisruptionBudget,
)
from quaymaster._api.objects.runtime import (
    RuntimeClass,
)
from quaymaster._api.objects.scheduling import (
    PriorityClass,
)
from quaymaster._api.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from quaymaster._api.objects.vertical_autoscaling import VerticalPodAutoscaler
from quaymaster._api.objects.workloads import (
    DaemonSet,
    Deployment,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

__all__ = [
    "GROUP_KINDS",
    "KINDS",
    "OPERATOR_KINDS",
    "group_of",
    "is_builtin",
    "plural_of",
    "version_of",
]

KINDS: Final[dict[str, type[ApiObject]]] = {
    cls.kind: cls
    for cls in (
        Namespace,
        Node,
        Pod,
        Service,
        ReplicationController,
        ReplicaSet,
        Deployment,
        StatefulSet,
        DaemonSet,
        Job,
        CronJob,
        HorizontalPodAutoscaler,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
        VolumeAttachment,
        DeviceClass,
        DeviceTaintRule,
        ResourceSlice,
        ResourceClaimTemplate,
        ResourceClaim,
        PodDisruptionBudget,
        PriorityClass,
        Workload,
        CompositePodGroup,
        PodGroup,
        RuntimeClass,
        LimitRange,
        ResourceQuota,
        Event,
        Lease,
        Binding,
    )
}
"""Every kind of Kubernetes itself that can be loaded, by its name."""

GROUP_KINDS: Final[tuple[type[ApiObject], ...]] = (
    CompositePodGroup,
    PodGroup,
    Workload,
)
"""The kinds of group scheduling, each behind a feature gate."""

OPERATOR_KINDS: Final[tuple[type[ApiObject], ...]] = (
    ScaledObject,
    ScaledJob,
    VerticalPodAutoscaler,
)
"""The kinds of common operators that the in-memory cluster follows."""


def is_builtin(kind: type[ApiObject]) -> bool:
    """Return whether a class is that of a kind of Kubernetes itself.

    Other API groups have kinds of the same names, such as PodGroup.
    """
    # Identity: this class, not another one of the same name.
    return KINDS.get(kind.kind) is kind


def group_of(api_version: str) -> str:
    """Return the group in an ``apiVersion``; empty for the core group."""
    return api_version.rpartition("/")[0]


def version_of(api_version: str) -> str:
    """Return the version in an ``apiVersion``."""
    return api_version.rpartition("/")[2]


@cache
def plural_of(kind: type[ApiObject]) -> str:
    """Return the plural name of a kind in the API, such as ``deployments``."""
    if kind.plural:
        return kind.plural
    name = kind.kind.lower()
    ending = {"y": "ies", "s": "ses"}.get(name[-1:])
    return f"{name[:-1]}{ending}" if ending else f"{name}s"
