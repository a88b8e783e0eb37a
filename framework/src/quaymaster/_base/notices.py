"""Notices: warnings to the user, none of which stops anything."""

import enum
from collections.abc import Iterable

import attrs

from quaymaster._base.errors import one_line

__all__ = ["Notice", "NoticeReason", "has_missing_pods"]


class NoticeReason(enum.StrEnum):
    """The kinds of notices, for programs to tell apart."""

    UNKNOWN_KIND = "UnknownKind"
    """A kind that Kubernetes does not have; probably misspelt."""

    UNREAD_KINDS = "UnreadKinds"
    """Objects of a live cluster that nobody could or may read."""

    UNKNOWN_VERSION = "UnknownVersion"
    """A kind that scheduling reads, but under another ``apiVersion``."""

    MISSING_PODS = "MissingPods"
    """Something asks for pods that the simulation does not have."""

    ENDED_PODS = "EndedPods"
    """Pods that came in have ended, so they play no part."""

    STRAY_PODS = "StrayPods"
    """Pods run on nodes that are not known."""

    NOT_READY_NODES = "NotReadyNodes"
    """Nodes that are not ready are treated as if they were."""

    REFUSED_OBJECTS = "RefusedObjects"
    """Objects that make no pods were kept out by a quota."""

    GATED_OBJECTS = "GatedObjects"
    """Objects have no effect while a feature gate is off."""

    IMPLIED_STORAGE_CLASS = "ImpliedStorageClass"
    """Claims use a StorageClass that nobody gave."""

    OTHER_SCHEDULERS = "OtherSchedulers"
    """Pods wait for schedulers that do not take part."""

    ODD_FIELDS = "OddFields"
    """A field is unknown, or there twice."""

    DROPPED_FIELDS = "DroppedFields"
    """A field is dropped, since its feature gate is off."""

    LEFT_OUT = "LeftOut"
    """Parts of a scenario that play no part in an answer."""

    CONFIGURATION = "Configuration"
    """Something in the scheduler's configuration is probably a mistake."""


@attrs.frozen(kw_only=True)
class Notice:
    """One thing that was left out, assumed or changed.

    Attributes:
        reason: What kind of thing it is.
        where: The file, and the document and object in it, as far as they are known.
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
    """Whether any notice says that pods are missing from the input."""
    return any(notice.reason is NoticeReason.MISSING_PODS for notice in notices)
