"""Workloads, which make pods: Deployments, StatefulSets and the like.

Mirrors k8s.io/api v0.36, ``apps/v1/types.go`` and ``core/v1/types.go``. Jobs are in
``jobs.py``.
"""

from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject, ApiValue, LabelSelector
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.pod import PodTemplateSpec
from quaymaster._api.objects.rollouts import (
    DaemonSetUpdateStrategy,
    DeploymentStrategy,
    StatefulSetUpdateStrategy,
)
from quaymaster._api.objects.storage import PersistentVolumeClaim

__all__ = [
    "DaemonSet",
    "DaemonSetSpec",
    "Deployment",
    "DeploymentSpec",
    "ReplicaSet",
    "ReplicaSetSpec",
    "ReplicationController",
    "ReplicationControllerSpec",
    "StatefulSet",
    "StatefulSetOrdinals",
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    "StatefulSetSpec",
]


class DeploymentSpec(ApiValue, frozen=True, kw_only=True):
    """A template, and a number of pods; `replicas` None means 1."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    strategy: DeploymentStrategy = DeploymentStrategy()
    paused: bool = False
    min_ready_seconds: Int32 = 0
    progress_deadline_seconds: Int32 | None = None


class Deployment(ApiObject, frozen=True, kw_only=True):
    """Runs a number of equal pods, by means of ReplicaSets."""

    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "Deployment"

    spec: DeploymentSpec = DeploymentSpec()


class ReplicaSetSpec(ApiValue, frozen=True, kw_only=True):
    """A template, and a number of pods; `replicas` None means 1."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: Int32 = 0


class ReplicaSet(ApiObject, frozen=True, kw_only=True):
    """Runs a number of equal pods."""

    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "ReplicaSet"

    spec: ReplicaSetSpec = ReplicaSetSpec()


class ReplicationControllerSpec(ApiValue, frozen=True, kw_only=True):
    """A template, and a number of pods; `replicas` None means 1."""

    replicas: Int32 | None = None
    selector: dict[str, str] = {}
    template: PodTemplateSpec | None = None
    min_ready_seconds: Int32 = 0


class ReplicationController(ApiObject, frozen=True, kw_only=True):
    """Runs a number of equal pods; ReplicaSets replaced it."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "ReplicationController"

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class StatefulSetOrdinals(ApiValue, frozen=True, kw_only=True):
    """The number of the first pod."""

    start: Int32 = 0


class StatefulSetPersistentVolumeClaimRetentionPolicy(
    ApiValue, frozen=True, kw_only=True
):
    """What happens to claims of templates: ``Retain`` (also if empty) or ``Delete``."""

    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetSpec(ApiValue, frozen=True, kw_only=True):
    """A number of numbered pods, and the claims that each of them gets.

    Attributes:
        pod_management_policy: ``OrderedReady`` (also if empty) or ``Parallel``.
    """

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    service_name: str = ""
    pod_management_policy: str = ""
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    ordinals: StatefulSetOrdinals | None = None
    min_ready_seconds: Int32 = 0
    persistent_volume_claim_retention_policy: (
        StatefulSetPersistentVolumeClaimRetentionPolicy | None
    ) = None


class StatefulSet(ApiObject, frozen=True, kw_only=True):
    """Runs numbered pods with stable names and volumes."""

    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "StatefulSet"

    spec: StatefulSetSpec = StatefulSetSpec()


class DaemonSetSpec(ApiValue, frozen=True, kw_only=True):
    """The template of the pod that each suitable node gets."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    update_strategy: DaemonSetUpdateStrategy = DaemonSetUpdateStrategy()
    min_ready_seconds: Int32 = 0


class DaemonSet(ApiObject, frozen=True, kw_only=True):
    """Runs one pod per node."""

    api_version: ClassVar[str] = "apps/v1"
    kind: ClassVar[str] = "DaemonSet"

    spec: DaemonSetSpec = DaemonSetSpec()
