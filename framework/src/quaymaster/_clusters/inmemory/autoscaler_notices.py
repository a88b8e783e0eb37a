"""Notices about autoscalers whose workloads are not there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from quaymaster._api.objects import ApiObject, HorizontalPodAutoscaler
from quaymaster._api.objects.keda import ScaledObject, ScaleTarget
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.admission.problems import place_of
from quaymaster._clusters.inmemory.controllers.autoscalers import target_id
from quaymaster._clusters.inmemory.controllers.scale_targets import TargetId
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import target_id_of
from quaymaster._clusters.inmemory.core import ClusterCore

__all__ = ["notices_of_shared_targets", "notices_of_targets"]


def notices_of_targets(
    objects: Iterable[ApiObject], core: ClusterCore
) -> Iterator[Notice]:
    """Yield a notice about the autoscalers among objects that have no workload.

    Args:
        objects: Objects that were loaded together.
        core: The cluster, with these objects.
    """
    idle = [text for obj in objects if (text := _idle(obj, core))]
    if idle:
        verb = "sizes a workload" if len(idle) == 1 else "size workloads"
        yield Notice(
            reason=NoticeReason.UNFOLLOWED_KINDS,
            message=f"{counted(len(idle), 'autoscaler')} {verb} that this cluster does "
            f"not have, or does not follow: {listed(idle)}",
        )


def notices_of_shared_targets(
    objects: Iterable[ApiObject], core: ClusterCore
) -> Iterator[Notice]:
    """Yield a notice for each workload that several of some autoscalers size.

    Args:
        objects: Objects that were loaded together.
        core: The cluster, with these objects.
    """
    scalers: defaultdict[TargetId, list[str]] = defaultdict(list)
    for obj in objects:
        identity = _target_of(obj)
        if identity is not None and identity[1] in core.objects(identity[0]):
            scalers[identity].append(place_of(obj))
    for (kind, key), names in scalers.items():
        if len(names) > 1:
            yield Notice(
                reason=NoticeReason.ASSUMED_SIZES,
                message=f"{len(names)} autoscalers size {kind.kind} {key}, so each "
                f"may undo the changes of the others: {listed(names)}",
            )


def _target_of(obj: ApiObject) -> TargetId | None:
    if isinstance(obj, ScaledObject):
        return target_id_of(obj)
    if isinstance(obj, HorizontalPodAutoscaler) and not _is_of_keda(obj):
        return target_id(obj)
    return None


def _idle(obj: ApiObject, core: ClusterCore) -> str:
    """Return the names of an autoscaler and its missing workload, or an empty text."""
    if isinstance(obj, ScaledObject):
        identity = target_id_of(obj)
        reference = obj.spec.scale_target_ref or ScaleTarget()
        workload = f"{reference.kind or 'Deployment'} {reference.name}"
    elif isinstance(obj, HorizontalPodAutoscaler) and not _is_of_keda(obj):
        identity = target_id(obj)
        target = obj.spec.scale_target_ref
        workload = f"{target.kind} {target.name}"
    else:
        return ""
    if identity is not None and identity[1] in core.objects(identity[0]):
        return ""
    return f"{place_of(obj)} of {workload}"


def _is_of_keda(scaler: HorizontalPodAutoscaler) -> bool:
    owner = scaler.metadata.controller
    return owner is not None and owner.kind == ScaledObject.kind
