"""ScaledObjects of KEDA: they create autoscalers, and size workloads themselves.

Mirrors ``reconcileScaledObject`` of ``controllers/keda/scaledobject_controller.go`` and
``newHPAForScaledObject`` of ``controllers/keda/hpa.go`` (kedacore/keda v2.20) without
metrics. A new or changed ScaledObject acts at once; later its workload is looked at
every ``pollingInterval``.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CrossVersionObjectReference,
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerSpec,
    ObjectMeta,
)
from quaymaster._api.objects.keda import ScaledObject, ScaleTarget
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._clusters.inmemory.controllers.polling import Polling
from quaymaster._clusters.inmemory.controllers.scale_targets import (
    Scaled,
    ScalerIndex,
    replicas_of,
    scale,
    target,
)
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    autoscaler_limits,
    autoscaler_name,
    is_paused,
    scaled_size,
    target_id_of,
)

__all__ = ["ScaledObjectController"]

_POLLING_SECONDS: Final = 30
_EXCLUDED_LABELS: Final = "scaledobject.keda.sh/hpa-excluded-labels"
_NAME_LABEL: Final = "scaledobject.keda.sh/name"
_LONGEST_LABEL: Final = 63


class ScaledObjectController:
    """Sizes the workloads that ScaledObjects refer to.

    Args:
        cluster: The cluster.
        mark: Is called with a ScaledObject's kind and key when it must be synced.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._cluster = cluster
        self._mark = mark
        self._polling = Polling(cluster.clock, ScaledObject, mark)
        self._scalers = ScalerIndex()

    def scaled_object_changed(
        self, old: ScaledObject | None, new: ScaledObject | None
    ) -> None:
        """Handle a ScaledObject that was created, changed or removed."""
        if new is None:
            if old is not None:
                self._scalers.update(old.key, target_id_of(old), None)
                self._removed(old)
            return
        # Its own status must not cause the next sync.
        if old is None or _has_changed(old, new):
            before = None if old is None else target_id_of(old)
            self._scalers.update(new.key, before, target_id_of(new))
            self._mark(ScaledObject, new.key)

    def workload_changed(self, workload: ApiObject) -> None:
        """Handle a workload that was created or changed."""
        for key in self._scalers.of(workload):
            scaled = self._cluster.objects(ScaledObject)[key]
            if scaled.status.original_replica_count is None:
                self._mark(ScaledObject, key)
            elif isinstance(workload, Scaled) and not is_paused(scaled):
                replicas = replicas_of(workload)
                if scaled_size(scaled, replicas) != replicas:
                    seconds = scaled.spec.polling_interval or _POLLING_SECONDS
                    self._polling.wait(scaled, seconds)

    def sync(self, scaled: ScaledObject) -> None:
        """Create, update or delete the autoscaler, and size the workload."""
        workload = target(self._cluster, target_id_of(scaled))
        name = autoscaler_name(scaled)
        # The name may have changed in the spec; the autoscaler of the old name would go
        # on scaling.
        if scaled.status.hpa_name not in ("", name):
            self._delete_autoscaler(scaled, scaled.status.hpa_name)
        if is_paused(scaled):
            self._delete_autoscaler(scaled, name)
        elif workload is not None:
            self._put_autoscaler(scaled, name, workload)
        if workload is None:
            return
        replicas = replicas_of(workload)
        self._write_status(scaled, name, replicas)
        desired = scaled_size(scaled, replicas)
        if desired != replicas:
            scale(self._cluster, workload, desired)

    def _put_autoscaler(self, scaled: ScaledObject, name: str, of: Scaled) -> None:
        new = _autoscaler(scaled, name, of)
        existing = self._autoscaler(scaled, name)
        if existing is None:
            # Not admitted: it would get the default metric. Its own metrics depend on
            # the scalers of the triggers, and nothing here evaluates them.
            self._cluster.add(new)
            return
        spec = replace(
            # Only these fields: the metrics of a loaded autoscaler are those that KEDA
            # made of the triggers.
            existing.spec,
            scale_target_ref=new.spec.scale_target_ref,
            min_replicas=new.spec.min_replicas,
            max_replicas=new.spec.max_replicas,
        )
        if spec != existing.spec:
            self._cluster.change(existing, replace(existing, spec=spec))

    def _delete_autoscaler(self, scaled: ScaledObject, name: str) -> None:
        existing = self._autoscaler(scaled, name)
        if existing is not None:
            self._cluster.delete(existing)

    def _autoscaler(
        self, scaled: ScaledObject, name: str
    ) -> HorizontalPodAutoscaler | None:
        scalers = self._cluster.objects(HorizontalPodAutoscaler)
        return scalers.get(f"{scaled.namespace}/{name}")

    def _write_status(self, scaled: ScaledObject, name: str, replicas: int) -> None:
        status = scaled.status
        original = status.original_replica_count
        new = replace(
            status,
            hpa_name=name,
            # The first size that was seen, to which `_removed` may return.
            original_replica_count=replicas if original is None else original,
        )
        if new != status:
            self._cluster.change(scaled, replace(scaled, status=new))

    def _removed(self, scaled: ScaledObject) -> None:
        """Delete the autoscaler of a ScaledObject, and restore the size if wanted."""
        for scaler in list(self._cluster.objects(HorizontalPodAutoscaler).values()):
            if any(o.uid == scaled.uid for o in scaler.metadata.owner_references):
                self._cluster.delete(scaler)
        advanced = scaled.spec.advanced
        original = scaled.status.original_replica_count
        if advanced is None or not advanced.restore_to_original_replica_count:
            return
        workload = target(self._cluster, target_id_of(scaled))
        if workload is not None and original not in (None, replicas_of(workload)):
            scale(self._cluster, workload, original or 0)


def _has_changed(old: ScaledObject, new: ScaledObject) -> bool:
    return old.spec != new.spec or old.annotations != new.annotations


def _autoscaler(
    scaled: ScaledObject, name: str, workload: Scaled
) -> HorizontalPodAutoscaler:
    """Return the autoscaler that KEDA creates, without its metrics."""
    least, most = autoscaler_limits(scaled)
    reference = scaled.spec.scale_target_ref or ScaleTarget()
    owner = owner_reference(scaled)
    return HorizontalPodAutoscaler(
        metadata=ObjectMeta(
            name=name,
            namespace=scaled.namespace,
            labels=_labels(scaled, name),
            annotations=scaled.annotations,
            owner_references=(owner,),
        ),
        spec=HorizontalPodAutoscalerSpec(
            scale_target_ref=CrossVersionObjectReference(
                kind=workload.kind,
                name=reference.name,
                api_version=workload.api_version,
            ),
            min_replicas=least,
            max_replicas=most,
        ),
    )


def _labels(scaled: ScaledObject, name: str) -> dict[str, str]:
    excluded = scaled.annotations.get(_EXCLUDED_LABELS, "").split(",")
    own = {key: value for key, value in scaled.labels.items() if key not in excluded}
    label = name
    if len(name) > _LONGEST_LABEL:
        # A label must not end with these characters after it is cut.
        label = name[:_LONGEST_LABEL].rstrip("-.")
    return {
        "app.kubernetes.io/name": label,
        "app.kubernetes.io/part-of": scaled.name,
        "app.kubernetes.io/managed-by": "keda-operator",
        _NAME_LABEL: scaled.name,
        **own,
    }
