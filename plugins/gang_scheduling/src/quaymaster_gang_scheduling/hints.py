"""What the hints of GangScheduling share."""

from quaymaster import QueueingHint
from quaymaster.objects import PodGroup

__all__ = ["needs_fewer", "queue_if"]


def needs_fewer(old: PodGroup, new: PodGroup) -> bool:
    """Return whether a gang needs fewer pods now."""
    before = old.spec.scheduling_policy.gang
    after = new.spec.scheduling_policy.gang
    is_gang = before is not None and after is not None
    return is_gang and new.min_count < old.min_count


def queue_if(is_helpful: bool) -> QueueingHint:
    """Return the hint for an event that helps a pod, or does not."""
    return QueueingHint.QUEUE if is_helpful else QueueingHint.SKIP
