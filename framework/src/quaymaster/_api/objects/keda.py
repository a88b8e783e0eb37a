"""ScaledObjects and ScaledJobs of KEDA, which size workloads by events outside.

Mirrors kedacore/keda v2.20, ``apis/keda/v1alpha1``.
"""

from typing import ClassVar

import msgspec

from quaymaster._api.objects.jobs import JobSpec
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.time import Time

__all__ = [
    "ScaleTarget",
    "ScaleTrigger",
    "ScaledJob",
    "ScaledJobRollout",
    "ScaledJobSpec",
    "ScaledObject",
    "ScaledObjectAdvanced",
    "ScaledObjectAutoscaler",
    "ScaledObjectSpec",
    "ScaledObjectStatus",
]


class ScaleTarget(ApiValue, frozen=True, kw_only=True):
    """The workload that is sized; by default a Deployment."""

    name: str = ""
    api_version: str = ""
    kind: str = ""
    env_source_container_name: str = ""


class ScaleTrigger(ApiValue, frozen=True, kw_only=True):
    """What the size depends on.

    Attributes:
        type: The scaler, such as ``kafka``, ``cron`` or ``cpu``.
        name: Its name in formulas.
        metadata: The settings of the scaler.
    """

    type: str = ""
    name: str = ""
    metadata: dict[str, str] = {}
    use_cached_metrics: bool = False
    authentication_ref: object = None
    metric_type: str = ""


class ScaledObjectAutoscaler(ApiValue, frozen=True, kw_only=True):
    """The HorizontalPodAutoscaler that KEDA creates.

    Attributes:
        name: Its name; empty for ``keda-hpa-`` and the name of the ScaledObject.
        behavior: How fast it scales.
    """

    name: str = ""
    behavior: object = None


class ScaledObjectAdvanced(ApiValue, frozen=True, kw_only=True):
    """Further settings of a ScaledObject."""

    horizontal_pod_autoscaler_config: ScaledObjectAutoscaler | None = None
    restore_to_original_replica_count: bool = False
    scaling_modifiers: object = None


class ScaledObjectSpec(ApiValue, frozen=True, kw_only=True):
    """The limits of a workload's size, and what it depends on.

    Attributes:
        scale_target_ref: The workload.
        polling_interval: How often KEDA evaluates the triggers, in seconds; None is 30.
        idle_replica_count: The number of replicas while no trigger is active.
        min_replica_count: The least number of replicas otherwise; None is 0.
        max_replica_count: The largest number of replicas; None is 100.
    """

    scale_target_ref: ScaleTarget | None = None
    polling_interval: Int32 | None = None
    initial_cooldown_period: Int32 | None = None
    cooldown_period: Int32 | None = None
    idle_replica_count: Int32 | None = None
    min_replica_count: Int32 | None = None
    max_replica_count: Int32 | None = None
    advanced: ScaledObjectAdvanced | None = None
    triggers: tuple[ScaleTrigger, ...] = ()
    fallback: object = None


class ScaledObjectStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a ScaledObject.

    Attributes:
        original_replica_count: The size of the workload before KEDA changed it.
        paused_replica_count: The size to which KEDA has paused the workload.
        hpa_name: The name of the HorizontalPodAutoscaler that KEDA has created.
    """

    scale_target_kind: str = ""
    scale_target_gvkr: object = msgspec.field(default=None, name="scaleTargetGVKR")
    original_replica_count: Int32 | None = None
    last_active_time: Time | None = None
    external_metric_names: tuple[str, ...] = ()
    resource_metric_names: tuple[str, ...] = ()
    composite_scaler_name: str = ""
    conditions: object = None
    health: object = None
    triggers_activity: object = None
    paused_replica_count: Int32 | None = None
    hpa_name: str = ""
    triggers_types: str | None = None
    authentications_types: str | None = None


class ScaledObject(ApiObject, frozen=True, kw_only=True):
    """Sizes a workload between two limits, or to none while nothing happens."""

    api_version: ClassVar[str] = "keda.sh/v1alpha1"
    kind: ClassVar[str] = "ScaledObject"

    spec: ScaledObjectSpec = ScaledObjectSpec()
    status: ScaledObjectStatus = ScaledObjectStatus()


class ScaledJobRollout(ApiValue, frozen=True, kw_only=True):
    """What happens to the Jobs of a changed ScaledJob.

    Attributes:
        strategy: ``gradual`` keeps them; otherwise they are deleted.
        propagation_policy: How they are deleted.
    """

    strategy: str = ""
    propagation_policy: str = ""


class ScaledJobSpec(ApiValue, frozen=True, kw_only=True):
    """The number of Jobs, and what it depends on.

    Attributes:
        job_target_ref: The spec of the Jobs.
        polling_interval: How often KEDA evaluates the triggers, in seconds; None is 30.
        min_replica_count: The least number of unfinished Jobs; None is 0.
        max_replica_count: The largest number of unfinished Jobs; None is 100.
    """

    job_target_ref: JobSpec | None = None
    polling_interval: Int32 | None = None
    successful_jobs_history_limit: Int32 | None = None
    failed_jobs_history_limit: Int32 | None = None
    rollout_strategy: str = ""
    rollout: ScaledJobRollout = ScaledJobRollout()
    env_source_container_name: str = ""
    min_replica_count: Int32 | None = None
    max_replica_count: Int32 | None = None
    scaling_strategy: object = None
    triggers: tuple[ScaleTrigger, ...] = ()


class ScaledJob(ApiObject, frozen=True, kw_only=True):
    """Creates Jobs while there is work for them."""

    api_version: ClassVar[str] = "keda.sh/v1alpha1"
    kind: ClassVar[str] = "ScaledJob"

    spec: ScaledJobSpec = ScaledJobSpec()
    status: object = None
