"""Workloads, which make pods: Deployments, StatefulSets, Jobs and the like.

Mirrors k8s.io/api v0.36, ``apps/v1/types.go``, ``batch/v1/types.go`` and
``core/v1/types.go``.
"""

from typing import ClassVar

from quaymaster._api.objects.meta import ApiObject, ApiValue, LabelSelector
from quaymaster._api.objects.numbers import Int32, Int64
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
    "Job",
    "JobCondition",
    "JobSpec",
    "JobStatus",
    "ReplicaSet",
    "ReplicaSetSpec",
    "ReplicationController",
    "ReplicationControllerSpec",
    "StatefulSet",
    "StatefulSetOrdinals",
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    "StatefulSetSpec",
    "UncountedTerminatedPods",
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


class JobSpec(ApiValue, frozen=True, kw_only=True):
    """How many pods must succeed, and how many may run at once.

    Attributes:
        completion_mode: ``NonIndexed`` (also if None) or ``Indexed``.
        managed_by: The controller that creates its pods; None is the cluster's own.
    """

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    active_deadline_seconds: Int64 | None = None
    backoff_limit: Int32 | None = None
    backoff_limit_per_index: Int32 | None = None
    managed_by: str | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    manual_selector: bool | None = None
    completion_mode: str | None = None
    suspend: bool | None = None


class JobCondition(ApiValue, frozen=True, kw_only=True):
    """A condition of a Job, such as ``Complete``.

    Attributes:
        type: ``Complete``, ``Failed``, ``SuccessCriteriaMet``, ``FailureTarget`` or
            ``Suspended``.
        status: ``True``, ``False`` or ``Unknown``.
    """

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class UncountedTerminatedPods(ApiValue, frozen=True, kw_only=True):
    """The uids of pods that have ended and are not in the counts yet."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a Job.

    Attributes:
        completed_indexes: Numbers and ranges, such as ``0,3-5``.
        failed_indexes: The same for indexes that are not tried again.
    """

    conditions: tuple[JobCondition, ...] = ()
    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


class Job(ApiObject, frozen=True, kw_only=True):
    """Runs pods until enough of them have succeeded."""

    api_version: ClassVar[str] = "batch/v1"
    kind: ClassVar[str] = "Job"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
