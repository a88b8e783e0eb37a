"""HorizontalPodAutoscalers: they keep workloads between two sizes.

Mirrors ``reconcileAutoscaler`` of ``pkg/controller/podautoscaler/horizontal.go``
(Kubernetes v1.37) without metrics: within the limits, a size stays as it is. A new or
changed autoscaler acts at once. A workload whose size changes has it corrected at the
next sync of its autoscaler, every 15 seconds.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Deployment,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerStatus,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Time,
)
from quaymaster._api.objects.kinds import group_of
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._core.contract.cluster import EventNote

__all__ = ["AutoscalerController", "replicas_within", "scaled_kind"]

Scaled: TypeAlias = Deployment | ReplicaSet | ReplicationController | StatefulSet

_SCALED: Final = (Deployment, ReplicaSet, ReplicationController, StatefulSet)
_SYNC_SECONDS: Final = 15.0


class AutoscalerController:
    """Sizes the workloads that autoscalers refer to.

    Args:
        cluster: The cluster.
        mark: Is called with an autoscaler's kind and key when it must be synced.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._cluster = cluster
        self._mark = mark
        # By kind and key of the workload: the keys of its autoscalers.
        self._scalers: dict[tuple[type[ApiObject], str], dict[str, None]] = {}
        self._waiting: set[str] = set()

    def autoscaler_changed(
        self, old: HorizontalPodAutoscaler | None, new: HorizontalPodAutoscaler | None
    ) -> None:
        """Handle an autoscaler that was created, changed or removed."""
        if old is not None and new is not None and old.spec == new.spec:
            return
        if old is not None and (target := _target_id(old)) is not None:
            self._scalers.get(target, {}).pop(old.key, None)
        if new is not None and (target := _target_id(new)) is not None:
            self._scalers.setdefault(target, {})[new.key] = None
            self._mark(HorizontalPodAutoscaler, new.key)

    def workload_changed(self, workload: ApiObject) -> None:
        """Handle a workload that was created or changed."""
        for key in self._scalers.get((type(workload), workload.key), ()):
            scaler = self._cluster.objects(HorizontalPodAutoscaler)[key]
            # An autoscaler acts at once on a workload that it sees for the first time.
            if not scaler.status.conditions:
                self._mark(HorizontalPodAutoscaler, key)
            elif isinstance(workload, _SCALED) and key not in self._waiting:
                replicas = _replicas_of(workload)
                if replicas_within(scaler, replicas) != replicas:
                    self._wait(scaler)

    def sync(self, scaler: HorizontalPodAutoscaler) -> None:
        """Bring the size of a workload within the limits."""
        target = self._target_of(scaler)
        if target is None:
            return
        current = _replicas_of(target)
        desired = replicas_within(scaler, current)
        if desired != current:
            self._scale(scaler, target, desired)
        self._write_status(scaler, current, desired)

    def _wait(self, scaler: HorizontalPodAutoscaler) -> None:
        """Sync an autoscaler again when its next interval begins."""
        clock = self._cluster.clock
        created = scaler.metadata.creation_timestamp
        begin = min(clock.now() if created is None else float(created), clock.now())
        passed = math.floor((clock.now() - begin) / _SYNC_SECONDS)
        self._waiting.add(scaler.key)
        due = begin + (passed + 1) * _SYNC_SECONDS
        clock.call_at(due, partial(self._wake, scaler.key))

    def _wake(self, key: str) -> None:
        self._waiting.discard(key)
        self._mark(HorizontalPodAutoscaler, key)

    def _target_of(self, scaler: HorizontalPodAutoscaler) -> Scaled | None:
        target = _target_id(scaler)
        if target is None:
            return None
        workload = self._cluster.objects(target[0]).get(target[1])
        return workload if isinstance(workload, _SCALED) else None

    def _scale(
        self, scaler: HorizontalPodAutoscaler, target: Scaled, replicas: int
    ) -> None:
        is_less = replicas < _replicas_of(target)
        spec = replace(target.spec, replicas=replicas)
        self._cluster.change(target, replace(target, spec=spec))
        limit = "above Spec.MaxReplicas" if is_less else "below Spec.MinReplicas"
        reason = f"Current number of replicas {limit}"
        self._cluster.record(
            EventNote(
                regarding=scaler,
                type="Normal",
                reason="SuccessfulRescale",
                action="Sync",
                note=f"New size: {replicas}; reason: {reason}",
                reporter="horizontal-pod-autoscaler",
            )
        )

    def _write_status(
        self, scaler: HorizontalPodAutoscaler, current: int, desired: int
    ) -> None:
        now = Time(self._cluster.clock.now())
        conditions = [
            _able_to_scale(scaler, desired, now, is_scaled=current != desired)
        ]
        if not current:
            conditions.append(_disabled(now))
        status = HorizontalPodAutoscalerStatus(
            last_scale_time=now
            if current != desired
            else scaler.status.last_scale_time,
            current_replicas=current,
            desired_replicas=desired,
            conditions=tuple(conditions),
        )
        self._cluster.change(scaler, replace(scaler, status=status))


def replicas_within(scaler: HorizontalPodAutoscaler, replicas: int) -> int:
    """Return a size within the limits; a workload without replicas keeps none."""
    spec = scaler.spec
    if not replicas:
        return 0
    least = 1 if spec.min_replicas is None else spec.min_replicas
    if replicas > spec.max_replicas:
        return spec.max_replicas
    return max(replicas, least)


def scaled_kind(scaler: HorizontalPodAutoscaler) -> type[Scaled] | None:
    """Return the kind of the workload of an autoscaler; None for custom kinds."""
    reference = scaler.spec.scale_target_ref
    for kind in _SCALED:
        group = group_of(kind.api_version)
        if (kind.kind, group) == (reference.kind, group_of(reference.api_version)):
            return kind
    return None


def _target_id(
    scaler: HorizontalPodAutoscaler,
) -> tuple[type[ApiObject], str] | None:
    kind = scaled_kind(scaler)
    if kind is None:
        return None
    return kind, f"{scaler.namespace}/{scaler.spec.scale_target_ref.name}"


def _replicas_of(workload: Scaled) -> int:
    replicas = workload.spec.replicas
    return 1 if replicas is None else replicas


def _able_to_scale(
    scaler: HorizontalPodAutoscaler, desired: int, now: Time, *, is_scaled: bool
) -> HorizontalPodAutoscalerCondition:
    message = "the HPA controller was able to get the target's current scale"
    if is_scaled:
        message = f"the HPA controller was able to update the target scale to {desired}"
    since = next(
        (
            c.last_transition_time
            for c in scaler.status.conditions
            if c.status == "True"
        ),
        now,
    )
    return HorizontalPodAutoscalerCondition(
        type="AbleToScale",
        status="True",
        last_transition_time=since,
        reason="SucceededRescale" if is_scaled else "SucceededGetScale",
        message=message,
    )


def _disabled(now: Time) -> HorizontalPodAutoscalerCondition:
    return HorizontalPodAutoscalerCondition(
        type="ScalingActive",
        status="False",
        last_transition_time=now,
        reason="ScalingDisabled",
        message="scaling is disabled since the replica count of the target is zero",
    )
