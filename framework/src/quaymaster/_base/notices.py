"""Notices: warnings to the user that stop nothing."""

import enum
from collections.abc import Iterable

import attrs

from quaymaster._base.errors import one_line

__all__ = ["Notice", "NoticeReason", "has_missing_pods"]


class NoticeReason(enum.StrEnum):
    """The kinds of notices, by which programs can distinguish them."""

    UNKNOWN_KIND = "UnknownKind"
    """A kind that Kubernetes does not have; probably misspelt."""

    UNREAD_KINDS = "UnreadKinds"
    """Objects of a live cluster that could not, or may not, be read."""

    UNKNOWN_VERSION = "UnknownVersion"
    """A kind that scheduling reads, but under another ``apiVersion``."""

    MISSING_PODS = "MissingPods"
    """A workload or claim needs pods that the simulation does not have."""

    ENDED_PODS = "EndedPods"
    """Pods of the input have ended, so they have no effect."""

    STRAY_PODS = "StrayPods"
    """Pods run on nodes that the input does not have."""

    NOT_READY_NODES = "NotReadyNodes"
    """Nodes that are not ready had no taint for it."""

    REFUSED_OBJECTS = "RefusedObjects"
    """A quota rejected objects that create no pods."""

    GATED_OBJECTS = "GatedObjects"
    """Objects have no effect while a feature gate is off."""

    IMPLIED_STORAGE_CLASS = "ImpliedStorageClass"
    """Claims use a StorageClass that the input does not have."""

    ASSUMED_PROVISIONER = "AssumedProvisioner"
    """The nodes that can reach the volumes of a provisioner are assumed."""

    ASSUMED_CONTROLLERS = "AssumedControllers"
    """The owners of pods are assumed, since the input lacks them."""

    ASSUMED_SIZES = "AssumedSizes"
    """The sizes of workloads depend on metrics, and are assumed to stay."""

    ATTACHED_VOLUMES = "AttachedVolumes"
    """Pods cannot start: their volumes are attached to other nodes."""

    UNBOUND_CLAIMS = "UnboundClaims"
    """Pods with a node cannot start: nothing binds their claims."""

    REPEATED_EVICTIONS = "RepeatedEvictions"
    """A taint evicts the pods of a workload again and again."""

    UNSETTLED_AUTOSCALER = "UnsettledAutoscaler"
    """An autoscaler did not settle, so the simulation ended at its horizon."""

    OTHER_SCHEDULERS = "OtherSchedulers"
    """Pods wait for schedulers that are not simulated."""

    ODD_FIELDS = "OddFields"
    """A field is unknown, or occurs twice."""

    UNFOLLOWED_FIELDS = "UnfollowedFields"
    """A field of a custom object changes its pods, and nothing here follows it."""

    UNFOLLOWED_KINDS = "UnfollowedKinds"
    """Objects create, size, move or remove pods, and nothing here follows them."""

    DROPPED_FIELDS = "DroppedFields"
    """A field is dropped, since its feature gate is off."""

    LEFT_OUT = "LeftOut"
    """Parts of a scenario or a trace have no effect on an answer."""

    UNTRIED_LOSSES = "UntriedLosses"
    """There are more possible losses than a plan was tried with."""

    CONFIGURATION = "Configuration"
    """Something in the scheduler's configuration is probably a mistake."""


@attrs.frozen(kw_only=True)
class Notice:
    """One thing that was ignored, assumed or changed.

    Attributes:
        reason: The kind of notice.
        where: The file, and the document and object in it, if they are available.
        path: The field, such as ``spec.template``; may be empty.
        message: What happened, and what can be done about it.
    """

    reason: NoticeReason
    where: str = ""
    path: str = ""
    message: str

    def __str__(self) -> str:
        return one_line(self.where, self.path, self.message)


def has_missing_pods(notices: Iterable[Notice]) -> bool:
    """Return whether a notice reports that pods are missing from the input."""
    return any(notice.reason is NoticeReason.MISSING_PODS for notice in notices)
