"""Notices about sizes that follow a schedule, which a simulation does not evaluate.

Mirrors ``pkg/scalers/cron_scaler.go`` of kedacore/keda v2.20.
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.keda import ScaledJob, ScaledObject, ScaleTrigger
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.controllers.scaled_object_sizes import (
    autoscaler_limits,
    idle_size,
    is_forced,
    is_paused,
    least_jobs,
    least_replicas,
    most_jobs,
    pauses_scale_out,
)

__all__ = ["notices_of_schedules"]

_CRON: Final = "cron"
_DESIRED: Final = "desiredReplicas"
_SHOWN: Final = 3


def notices_of_schedules(objects: Iterable[ApiObject], option: str) -> list[Notice]:
    """Return a notice if triggers of KEDA give other sizes at other times.

    Args:
        objects: All objects.
        option: What chooses a size.
    """
    scaled = [obj for obj in objects if _is_scheduled(obj)]
    if not scaled:
        return []
    names = listed([f"{obj.kind} {obj.key}" for obj in scaled], _SHOWN)
    verb = "has a cron trigger" if len(scaled) == 1 else "have cron triggers"
    message = (
        f"{counted(len(scaled), 'autoscaler')} of KEDA {verb}; the schedule is not "
        "evaluated, so the pods that it adds between start and end are missing "
        f"({option} chooses): {names}"
    )
    return [Notice(reason=NoticeReason.ASSUMED_SIZES, message=message)]


def _is_scheduled(obj: ApiObject) -> bool:
    """Return whether a cron trigger may give another size than without load."""
    if isinstance(obj, ScaledObject):
        triggers, (size, most) = obj.spec.triggers, _sizes(obj)
        is_fixed = is_paused(obj) or pauses_scale_out(obj)
    elif isinstance(obj, ScaledJob):
        triggers, size, most = obj.spec.triggers, least_jobs(obj), most_jobs(obj)
        is_fixed = is_paused(obj)
    else:
        return False
    return (
        not is_fixed
        and most > size
        and any(_adds_pods(trigger, size) for trigger in triggers)
    )


def _sizes(scaled: ScaledObject) -> tuple[int, int]:
    """Return the size of a workload without load, and its largest size."""
    least = least_replicas(scaled)
    size = max(1, least) if is_forced(scaled) else idle_size(scaled)
    return size, autoscaler_limits(scaled)[1]


def _adds_pods(trigger: ScaleTrigger, size: int) -> bool:
    """Return whether a trigger wants more pods; one without a number may do so."""
    if trigger.type != _CRON:
        return False
    text = trigger.metadata.get(_DESIRED, "").strip()
    return not (text.isascii() and text.isdecimal()) or int(text) > size
