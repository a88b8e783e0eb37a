"""Nodes that cannot be removed, and why.

Mirrors ``core/scaledown/unremovable/nodes.go``.
"""

import enum
from heapq import heappop, heappush
from typing import Final

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
    ATOMIC_SCALE_DOWN_FAILED = "AtomicScaleDownFailed"
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


_RECENT: Final = Unremovable(UnremovableReason.RECENTLY_UNREMOVABLE)


class UnremovableNodes:
    """The nodes that cannot be removed, by name.

    Attributes:
        reasons: The reasons of the last loop.
        known: The last reason of each node that had one, other than that it was found
            a moment ago.
    """

    def __init__(self) -> None:
        self.reasons: dict[str, Unremovable] = {}
        self.known: dict[str, Unremovable] = {}
        self._until: dict[str, float] = {}
        self._ends: list[tuple[float, str]] = []

    def pop_expired(self, now: float) -> list[str]:
        """Return the nodes that may be looked at again, and forget them."""
        expired = []
        while self._ends and self._ends[0][0] <= now:
            end, name = heappop(self._ends)
            if self._until.get(name) == end:
                del self._until[name]
                expired.append(name)
        return expired

    def add(
        self, name: str, unremovable: Unremovable, until: float | None = None
    ) -> None:
        """Add a node; with ``until``, it is not looked at before that time."""
        self.reasons[name] = self.known[name] = unremovable
        if until is not None:
            self._until[name] = until
            heappush(self._ends, (until, name))

    def remember(self, name: str, unremovable: Unremovable) -> None:
        """Note the last known reason of a node."""
        self.known[name] = unremovable

    def add_recent(self, name: str) -> None:
        """Add a node that is not looked at now."""
        self.reasons[name] = _RECENT

    def drop(self, name: str) -> None:
        """Forget the reason of a node."""
        self.reasons.pop(name, None)

    def is_recent(self, name: str) -> bool:
        """Return whether a node is not looked at now."""
        return name in self._until

    def next_look(self) -> float | None:
        """Return when the next node is looked at again, or None."""
        while self._ends and self._until.get(self._ends[0][1]) != self._ends[0][0]:
            heappop(self._ends)
        return self._ends[0][0] if self._ends else None
