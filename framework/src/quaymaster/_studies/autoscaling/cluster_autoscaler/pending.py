"""The pending pods that a scale-up might help.

Mirrors ``core/static_autoscaler.go``, ``core/podlistprocessor`` and
``loop/trigger.go``.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import Pod, PodCondition
from quaymaster._api.objects.resources import pod_requests
from quaymaster._core.config.duration import parse_duration
from quaymaster._core.contract.cluster import differ_by_outcome
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = [
    "are_all_new",
    "differ_by_attempt",
    "has_become_unschedulable",
    "is_unschedulable",
    "old_enough",
]

_DELAY_ANNOTATION: Final = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
_RECENT_SECONDS: Final = 10  # upstream's ``maxPodChangeAge``
_NEW_SECONDS: Final = 2
_NEW_SECONDS_WITH_GPU: Final = 30
_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915")


def is_unschedulable(pod: Pod) -> bool:
    """Return whether the scheduler has found no node for a pod."""
    return _rejection(pod) is not None


def differ_by_attempt(before: Pod, after: Pod) -> bool:
    """Return whether a pod differs only by another attempt that found no node.

    It may miss this for an equal pod.

    Args:
        before: The pod, which is unschedulable.
        after: A later version of it.
    """
    old, new = before.metadata, after.metadata
    return (
        # Identity: a patch of the status keeps these objects.
        before.spec is after.spec
        and old.labels is new.labels
        and old.annotations is new.annotations
        and old.owner_references is new.owner_references
        and old.uid == new.uid
        and old.deletion_timestamp == new.deletion_timestamp
        and is_unschedulable(after)
        and differ_by_outcome(before.status, after.status)
    )


def has_become_unschedulable(pod: Pod, now: float) -> bool:
    """Return whether a pod has lately become unschedulable, and still is.

    A pod that has waited for longer has changed as well when its message has. Mirrors
    ``isRecentUnschedulablePod``.

    Args:
        pod: The pod.
        now: The time, in seconds since the epoch.
    """
    rejection = _rejection(pod)
    if rejection is None or rejection.last_transition_time is None:
        return False
    return rejection.last_transition_time + _RECENT_SECONDS >= now


def old_enough(
    pods: Iterable[Pod], now: float, options: ClusterAutoscalerOptions
) -> list[Pod]:
    """Return the pods that are older than their delay."""
    return [pod for pod in pods if _age(pod, now) > _delay(pod, options)]


def are_all_new(pods: Sequence[Pod], now: float) -> bool:
    """Return whether more pods of the same kind may come in a moment."""
    if max((_age(pod, now) for pod in pods), default=0.0) < _NEW_SECONDS:
        return True
    with_gpu = [_age(pod, now) for pod in pods if _uses_gpu(pod)]
    return bool(with_gpu) and max(with_gpu) < _NEW_SECONDS_WITH_GPU


def _rejection(pod: Pod) -> PodCondition | None:
    """Return the condition by which the scheduler has rejected a pod, or None."""
    if pod.node_name or pod.is_finished:
        return None
    for condition in pod.status.conditions:
        if (
            condition.type == "PodScheduled"
            and condition.status == "False"
            and condition.reason == "Unschedulable"
        ):
            return condition
    return None


def _age(pod: Pod, now: float) -> float:
    return age_of(pod.metadata.creation_timestamp, now)


def _delay(pod: Pod, options: ClusterAutoscalerOptions) -> float:
    """Return how old a pod must be; its annotation can only make it longer."""
    text = pod.metadata.annotations.get(_DELAY_ANNOTATION, "")
    own = parse_duration(text)
    general = options.new_pod_scale_up_delay
    return general if own is None else max(own.total_seconds(), general)


def _uses_gpu(pod: Pod) -> bool:
    scalars = pod_requests(pod).scalars
    return any(scalars.get(name) for name in _GPUS)
