"""Who is in a group, and who of them has a node.

Mirrors ``assignedPodsByPG`` of ``PodGroupManager`` (scheduler-plugins v0.34.7,
``pkg/coscheduling/core/core.go``). Nothing is counted by hand here: bound pods are
those of the informers, and waiting ones those of the framework. So the numbers hold
after a restart, and for the instance that a reload puts in place.
"""

import enum
from collections.abc import Collection, Mapping, Sequence

from quaymaster import Handle, Pod, WaitingPod

from quaymaster_coscheduling.pod_group import group_key

__all__ = ["Gangs"]


class _Standing(enum.Enum):
    """What a member that has not ended waits for."""

    BOUND = "bound"
    GATED = "gated"
    PENDING = "pending"


def _place(pod: Pod) -> tuple[str, _Standing] | None:
    key = group_key(pod)
    if not key or pod.is_finished:
        return None
    if pod.node_name:
        return key, _Standing.BOUND
    return key, _Standing.GATED if pod.spec.scheduling_gates else _Standing.PENDING


class Gangs:
    """The members of all groups.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._informers = handle.informers
        self._places = handle.informers.index(Pod, by=_place)
        # Group -> uid -> key of the pods that need not wait any more, and that the
        # informers do not show on a node yet.
        self._passed: dict[str, dict[str, str]] = {}

    def bound(self, key: str) -> Sequence[Pod]:
        """Return the members that have a node."""
        return self._places.get((key, _Standing.BOUND))

    def pending(self, key: str) -> Sequence[Pod]:
        """Return the members without a node and without gates, waiting ones too."""
        return self._places.get((key, _Standing.PENDING))

    def counts(self, key: str) -> tuple[int, int]:
        """Return how many members have no gates, and how many do."""
        count = self._places.count
        ready = count((key, _Standing.BOUND)) + count((key, _Standing.PENDING))
        return ready, count((key, _Standing.GATED))

    def waiting(self, key: str) -> Sequence[WaitingPod]:
        """Return the members that wait on Permit."""
        waiting = self._handle.waiting_pods()
        return [one for one in waiting if group_key(one.pod) == key]

    def any_waits(self, key: str) -> bool:
        """Whether any member waits on Permit."""
        return any(group_key(one.pod) == key for one in self._handle.waiting_pods())

    def is_complete(self, key: str, needed: int) -> bool:
        """Whether enough members have a node, together with one more."""
        # However many of all those that wait are members: a look at each of them, for
        # each member of a large group, would take longer than anything else.
        waiting = list(self._handle.waiting_pods())
        most = len(waiting) + len(self._on_their_way(key))
        if self._places.count((key, _Standing.BOUND)) + most + 1 < needed:
            return False
        return self.assigned(key, self.waiting(key)) + 1 >= needed

    def assigned(self, key: str, waiting: Collection[WaitingPod]) -> int:
        """Return how many members have a node, those on their way included.

        Args:
            key: The group.
            waiting: Its members that wait.
        """
        count = self._places.count((key, _Standing.BOUND)) + len(waiting)
        passed = self._on_their_way(key)
        if passed:
            # Those that have been told to go may not have left yet.
            count += len(passed.keys() - {one.pod.uid for one in waiting})
        return count

    def let_pass(self, key: str, pod: Pod) -> None:
        """Note that a member of a group need not wait any more."""
        self._passed.setdefault(key, {})[pod.metadata.uid] = pod.key

    def has_passed(self, key: str, pod: Pod) -> bool:
        """Whether a member need not wait any more, and has not been seen to arrive."""
        return pod.metadata.uid in self._passed.get(key, ())

    def take_back(self, key: str, pod: Pod) -> bool:
        """Note that a member has lost its node; return whether it had passed."""
        passed = self._passed.get(key, {})
        return passed.pop(pod.metadata.uid, None) is not None

    def _on_their_way(self, key: str) -> Mapping[str, str]:
        """Return those that have passed, less those that have arrived."""
        passed = self._passed.get(key)
        if passed is None:
            return {}
        for uid, pod_key in list(passed.items()):
            stored = self._informers.get(Pod, pod_key)
            if stored is None or stored.uid != uid or stored.node_name:
                del passed[uid]
        if not passed:
            del self._passed[key]
        return passed
