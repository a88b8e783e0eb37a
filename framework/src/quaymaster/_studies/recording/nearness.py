"""Decides which changes of a record belong to the same moment.

A change carries the time at which it was recorded. A recorder on a busy machine may
stop for seconds, so changes that were written together may have times far apart.
Bindings also carry the time at which the API server wrote them, in whole seconds, so
two bindings are compared by that time as well.
"""

from typing import Final, Protocol

from quaymaster._api.objects import Pod

__all__ = ["Seen", "binding_time", "is_near", "may_be_after"]

_SECONDS: Final = 1.0
"""How many seconds changes may be delayed or seen in another order."""


class Seen(Protocol):
    """Anything in a record that has a time.

    Attributes:
        at: When it was recorded, in seconds since the beginning of the record.
        bound: When the API server bound its pod, in seconds since the epoch; None if it
            did not or the time is unknown.
    """

    @property
    def at(self) -> float:
        """See above."""

    @property
    def bound(self) -> float | None:
        """See above."""


def binding_time(old: object, new: object) -> float | None:
    """Return when the API server bound a pod with a change; None if it did not.

    Args:
        old: The object before.
        new: The object after.
    """
    if not isinstance(new, Pod) or not new.node_name:
        return None
    if isinstance(old, Pod) and old.node_name:
        return None
    for condition in new.status.conditions:
        if (condition.type, condition.status) == ("PodScheduled", "True"):
            return condition.last_transition_time
    return None


def may_be_after(change: Seen, other: Seen) -> bool:
    """Return whether a change has the same moment as another, or a later one."""
    if change.at >= other.at - _SECONDS:
        return True
    if change.bound is None or other.bound is None:
        return False
    return change.bound >= other.bound - _SECONDS


def is_near(change: Seen, other: Seen) -> bool:
    """Return whether two changes belong to the same moment."""
    return may_be_after(change, other) and may_be_after(other, change)
