"""What Karpenter asks about pods.

Mirrors ``pkg/utils/pod/scheduling.go`` (sigs.k8s.io/karpenter v1.15).
"""

from typing import Final

from quaymaster._api.objects import Pod, PodSpec, SpecKey, Taint
from quaymaster._api.objects.tolerations import is_tolerated
from quaymaster._core.config.duration import parse_duration

__all__ = [
    "DISRUPTED_TAINT",
    "DO_NOT_DISRUPT",
    "has_device_claims",
    "has_required_anti_affinity",
    "is_active",
    "is_daemon_pod",
    "is_disruptable",
    "is_evictable",
    "is_owned_by",
    "is_pending",
    "is_provisionable",
    "is_reschedulable",
    "is_static_pod",
    "keeps_from_disruption",
]

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
DISRUPTED_TAINT: Final = Taint(key="karpenter.sh/disrupted", effect="NoSchedule")
"""The taint of nodes that are being removed."""


def is_owned_by(pod: Pod, api_version: str, kind: str) -> bool:
    """Return whether a pod has an owner of a kind."""
    return any(
        owner.kind == kind and owner.api_version == api_version
        for owner in pod.metadata.owner_references
    )


def is_daemon_pod(pod: Pod) -> bool:
    """Return whether a pod is of a DaemonSet."""
    return is_owned_by(pod, "apps/v1", "DaemonSet")


def is_static_pod(pod: Pod) -> bool:
    """Return whether a pod mirrors one of a kubelet."""
    return is_owned_by(pod, "v1", "Node")


def is_active(pod: Pod) -> bool:
    """Return whether a pod has not ended and is not being deleted."""
    return not pod.is_finished and not pod.is_terminating


def is_pending(pod: Pod) -> bool:
    """Return whether the phase of a pod is Pending."""
    return pod.status.phase == "Pending"


def is_provisionable(pod: Pod) -> bool:
    """Return whether a pod needs a node: no scheduler has found one for it."""
    # Most pods have a node.
    return (
        not pod.node_name
        and any(
            condition.type == "PodScheduled" and condition.reason == "Unschedulable"
            for condition in pod.status.conditions
        )
        and not pod.status.nominated_node_name
        and not is_daemon_pod(pod)
        and not is_static_pod(pod)
    )


def is_reschedulable(pod: Pod) -> bool:
    """Return whether a pod needs another place when its node goes.

    A StatefulSet makes a new pod only when the old one is gone, so one that is being
    deleted counts.
    """
    active = is_active(pod) or (
        is_owned_by(pod, "apps/v1", "StatefulSet") and pod.is_terminating
    )
    return active and not is_daemon_pod(pod) and not is_static_pod(pod)


def keeps_from_disruption(pod: Pod, now: float) -> bool:
    """Return whether an annotation of a pod forbids disruption now."""
    text = pod.annotations.get(DO_NOT_DISRUPT)
    if text is None or text == "true":
        return text is not None
    seconds = _seconds(text)
    if seconds <= 0:
        return False
    start = pod.status.start_time
    return start is None or now - start < seconds


def disruption_allowed_at(pod: Pod) -> float | None:
    """Return when an annotation of a pod ceases to forbid disruption, or None."""
    text = pod.annotations.get(DO_NOT_DISRUPT)
    start = pod.status.start_time
    if text is None or text == "true" or start is None:
        return None
    return start + _seconds(text)


def _seconds(text: str) -> float:
    """Return the length of a duration; 0 if it is none."""
    duration = parse_duration(text)
    return 0.0 if duration is None else duration.total_seconds()


def is_disruptable(pod: Pod, now: float) -> bool:
    """Return whether a pod lets its node go."""
    return not keeps_from_disruption(pod, now) or not is_active(pod)


def is_evictable(pod: Pod, now: float) -> bool:
    """Return whether Karpenter would evict a pod."""
    return (
        is_active(pod)
        and not is_tolerated(DISRUPTED_TAINT, pod.spec.tolerations)
        and not is_static_pod(pod)
        and not keeps_from_disruption(pod, now)
    )


def _has_device_claims(spec: PodSpec) -> bool:
    containers = (*spec.init_containers, *spec.containers)
    return bool(spec.resource_claims) or any(c.resources.claims for c in containers)


_DEVICE_CLAIMS: Final = SpecKey(_has_device_claims)


def has_device_claims(pod: Pod) -> bool:
    """Return whether a pod claims devices."""
    return _DEVICE_CLAIMS.of(pod)


def has_required_anti_affinity(pod: Pod) -> bool:
    """Return whether a pod must be away from other pods."""
    affinity = pod.spec.affinity and pod.spec.affinity.pod_anti_affinity
    return bool(
        affinity and affinity.required_during_scheduling_ignored_during_execution
    )
