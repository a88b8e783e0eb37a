"""HorizontalPodAutoscalers: they keep workloads between two sizes.

Mirrors ``reconcileAutoscaler`` of ``pkg/controller/podautoscaler/horizontal.go``
(Kubernetes v1.37) without metrics: within the limits, a size stays as it is. A new or
changed autoscaler acts at once. A workload whose size changes has it corrected at the
next sync of its autoscaler, every 15 seconds.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerStatus,
    Time,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.polling import Polling
from quaymaster._clusters.inmemory.controllers.scale_targets import (
    Scaled,
    ScalerIndex,
    TargetId,
    replicas_of,
    scale,
    scaled_kind,
    target,
)
from quaymaster._core.contract.cluster import EventNote

__all__ = ["AutoscalerController", "replicas_within", "target_id"]

# The default of ``--horizontal-pod-autoscaler-sync-period``.
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
        self._polling = Polling(cluster.clock, HorizontalPodAutoscaler, mark)
        self._scalers = ScalerIndex()

    def autoscaler_changed(
        self, old: HorizontalPodAutoscaler | None, new: HorizontalPodAutoscaler | None
    ) -> None:
        """Handle an autoscaler that was created, changed or removed."""
        # Its own status is written at each sync, and must not cause the next one.
        if old is not None and new is not None and old.spec == new.spec:
            return
        scaler = old if new is None else new
        if scaler is None:
            return
        before = None if old is None else target_id(old)
        after = None if new is None else target_id(new)
        self._scalers.update(scaler.key, before, after)
        if after is not None:
            self._mark(HorizontalPodAutoscaler, scaler.key)

    def workload_changed(self, workload: ApiObject) -> None:
        """Handle a workload that was created or changed."""
        for key in self._scalers.of(workload):
            scaler = self._cluster.objects(HorizontalPodAutoscaler)[key]
            # An autoscaler acts at once on a workload that it sees for the first time.
            if not scaler.status.conditions:
                self._mark(HorizontalPodAutoscaler, key)
            elif isinstance(workload, Scaled):
                replicas = replicas_of(workload)
                # Polling every 15 s for all would keep a simulation from ever settling,
                # so only workloads that need a correction wait for the next turn.
                if replicas_within(scaler, replicas) != replicas:
                    self._polling.wait(scaler, _SYNC_SECONDS)

    def sync(self, scaler: HorizontalPodAutoscaler) -> None:
        """Bring the size of a workload within the limits."""
        workload = target(self._cluster, target_id(scaler))
        if workload is None:
            return
        current = replicas_of(workload)
        desired = replicas_within(scaler, current)
        if desired != current:
            self._scale(scaler, workload, desired)
        self._write_status(scaler, current, desired)

    def _scale(
        self, scaler: HorizontalPodAutoscaler, workload: Scaled, replicas: int
    ) -> None:
        # Before `scale`, which changes the workload that this reads.
        is_less = replicas < replicas_of(workload)
        scale(self._cluster, workload, replicas)
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
        # Zero replicas switch autoscaling off (``reconcileAutoscaler``): users do so by
        # hand to stop a workload.
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
    # The same rule, for callers that ask before a sync.
    if not replicas:
        return 0
    least = 1 if spec.min_replicas is None else spec.min_replicas
    if replicas > spec.max_replicas:
        return spec.max_replicas
    return max(replicas, least)


def target_id(scaler: HorizontalPodAutoscaler) -> TargetId | None:
    """Return the workload of an autoscaler; None for custom kinds."""
    reference = scaler.spec.scale_target_ref
    kind = scaled_kind(reference.api_version, reference.kind)
    return None if kind is None else (kind, f"{scaler.namespace}/{reference.name}")


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
