"""Nodes that cannot be removed, and why.

Mirrors ``core/scaledown/unremovable/nodes.go``.
"""

import enum

import attrs

from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import BlockingPod

__all__ = ["Unremovable", "UnremovableNodes", "UnremovableReason"]


class UnremovableReason(enum.Enum):
    """Why a node cannot be removed; upstream's names."""

    SCALE_DOWN_DISABLED_ANNOTATION = "ScaleDownDisabledAnnotation"
    SCALE_DOWN_UNREADY_DISABLED = "ScaleDownUnreadyDisabled"
    NOT_AUTOSCALED = "NotAutoscaled"
    NOT_UNNEEDED_LONG_ENOUGH = "NotUnneededLongEnough"
    NOT_UNREADY_LONG_ENOUGH = "NotUnreadyLongEnough"
    NODE_GROUP_MIN_SIZE_REACHED = "NodeGroupMinSizeReached"
    MINIMAL_RESOURCE_LIMIT_EXCEEDED = "MinimalResourceLimitExceeded"
    CURRENTLY_BEING_DELETED = "CurrentlyBeingDeleted"
    NOT_UNDERUTILIZED = "NotUnderutilized"
    RECENTLY_UNREMOVABLE = "RecentlyUnremovable"
    NO_PLACE_TO_MOVE_PODS = "NoPlaceToMovePods"
    BLOCKED_BY_POD = "BlockedByPod"
    BLOCKED_BY_ON_COMPLETION_POD = "BlockedByOnCompletionPod"
    UNEXPECTED_ERROR = "UnexpectedError"
    NO_NODE_INFO = "NoNodeInfo"


@attrs.frozen(eq=False)
class Unremovable:
    """Why a node cannot be removed.

    Attributes:
        reason: The reason.
        blocking: The pod that forbids it, or None.
    """

    reason: UnremovableReason
    blocking: BlockingPod | None = None


class UnremovableNodes:
    """The nodes that cannot be removed, by name.

    Attributes:
        reasons: The reasons of the last loop.
    """

    def __init__(self) -> None:
        self.reasons: dict[str, Unremovable] = {}
        self._until: dict[str, float] = {}

    def begin(self, now: float) -> None:
        """Begin a loop: forget reasons, and what was found too long ago."""
        self.reasons = {}
        self._until = {name: end for name, end in self._until.items() if end > now}

    def add(
        self, name: str, unremovable: Unremovable, until: float | None = None
    ) -> None:
        """Add a node; with ``until``, it is not looked at before that time."""
        self.reasons[name] = unremovable
        if until is not None:
            self._until[name] = until

    def is_recent(self, name: str) -> bool:
        """Return whether a node is not looked at now."""
        return name in self._until

    def next_look(self) -> float | None:
        """Return when the next node is looked at again, or None."""
        return min(self._until.values(), default=None)
