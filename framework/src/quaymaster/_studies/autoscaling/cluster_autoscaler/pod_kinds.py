"""Kinds of pods that the cluster autoscaler treats in their own way.

Mirrors ``utils/pod/pod.go`` and ``utils/drain/drain.go``.
"""

from collections.abc import Hashable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod, PodSpec
from quaymaster._api.objects.codec import ENCODER
from quaymaster._api.objects.spec_key import SpecKey
from quaymaster._studies.autoscaling.cluster_autoscaler.ages import age_of

__all__ = [
    "controller_uid",
    "is_daemon_pod",
    "is_expendable",
    "is_long_terminating",
    "is_mirror_pod",
    "scheduling_key",
]

_DAEMON_ANNOTATION: Final = "cluster-autoscaler.kubernetes.io/daemonset-pod"
_MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
_DEFAULT_GRACE_SECONDS: Final = 30
_EXTRA_SECONDS: Final = 30


def controller_uid(pod: Pod) -> str:
    """Return the uid of the controller of a pod; empty if it has none."""
    controller = pod.metadata.controller
    return "" if controller is None else controller.uid


def is_daemon_pod(pod: Pod) -> bool:
    """Return whether a pod counts as one of a DaemonSet."""
    controller = pod.metadata.controller
    if controller is not None and controller.kind == "DaemonSet":
        return True
    return pod.metadata.annotations.get(_DAEMON_ANNOTATION) == "true"


def is_mirror_pod(pod: Pod) -> bool:
    """Return whether a pod mirrors a static pod of a kubelet."""
    return _MIRROR_ANNOTATION in pod.metadata.annotations


def is_expendable(pod: Pod, cutoff: int) -> bool:
    """Return whether a pod does not count, as its priority is too low.

    Mirrors ``IsExpendablePod`` (``core/utils/expendable.go``): a pod without a priority
    counts, whatever the limit. Pods have one unless they are virtual.
    """
    return pod.spec.priority is not None and pod.spec.priority < cutoff


def is_long_terminating(pod: Pod, now: float) -> bool:
    """Return whether a pod should have ended half a minute ago."""
    deleted = pod.metadata.deletion_timestamp
    if deleted is None:
        return False
    grace = pod.spec.termination_grace_period_seconds
    grace = _DEFAULT_GRACE_SECONDS if grace is None else grace
    return age_of(deleted, now) > grace + _EXTRA_SECONDS


def scheduling_key(pod: Pod) -> Hashable:
    """Return a key that is equal for pods with equal labels and equivalent specs.

    Mirrors ``PodSpecSemanticallyEqual`` (``utils/utils.go``): projected volumes do not
    matter. What upstream ignores besides is not read here.
    """
    return (frozenset(pod.labels.items()), _SPEC_KEYS.of(pod))


def _key_of_spec(spec: PodSpec) -> bytes:
    volumes = tuple(each for each in spec.volumes if each.projected is None)
    return ENCODER.encode(replace(spec, volumes=volumes))


_SPEC_KEYS: Final = SpecKey(_key_of_spec)
