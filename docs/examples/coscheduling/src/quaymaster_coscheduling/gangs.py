"""Find the members of groups, and those with a node.

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


class _Wait(enum.Enum):
    """The state of a member that has not ended."""

    BOUND = "bound"
    GATED = "gated"
    PENDING = "pending"


def _place(pod: Pod) -> tuple[str, _Wait] | None:
    key = group_key(pod)
    if not key or pod.is_finished:
        return None
    if pod.node_name:
        return key, _Wait.BOUND
    return key, _Wait.GATED if pod.spec.scheduling_gates else _Wait.PENDING


class Gangs:
    """The members of all groups.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._informers = handle.informers
        self._places = handle.informers.index(Pod, by=_place)
        # Group -> uid -> key of the pods that no longer have to wait, and that the
        # informers do not show on a node yet.
        self._passed: dict[str, dict[str, str]] = {}

    def bound(self, key: str) -> Sequence[Pod]:
        """Return the members that have a node."""
        return self._places.get((key, _Wait.BOUND))

    def pending(self, key: str) -> Sequence[Pod]:
        """Return the members without a node and without gates, waiting ones too."""
        return self._places.get((key, _Wait.PENDING))

    def counts(self, key: str) -> tuple[int, int]:
        """Return how many members have no gates, and how many do."""
        count = self._places.count
        ready = count((key, _Wait.BOUND)) + count((key, _Wait.PENDING))
        return ready, count((key, _Wait.GATED))

    def waiting(self, key: str) -> Sequence[WaitingPod]:
        """Return the members that wait on Permit."""
        waiting = self._handle.waiting_pods()
        return [
            waiting_pod for waiting_pod in waiting if group_key(waiting_pod.pod) == key
        ]

    def any_waits(self, key: str) -> bool:
        """Whether any member waits on Permit."""
        return any(
            group_key(waiting_pod.pod) == key
            for waiting_pod in self._handle.waiting_pods()
        )

    def is_complete(self, key: str, needed: int) -> bool:
        """Whether enough members have a node, together with one more."""
        # However many of all those that wait are members: a look at each of them, for
        # each member of a large group, would take longer than anything else.
        waiting = list(self._handle.waiting_pods())
        most = len(waiting) + len(self._on_their_way(key))
        if self._places.count((key, _Wait.BOUND)) + most + 1 < needed:
            return False
        return self.assigned(key, self.waiting(key)) + 1 >= needed

    def assigned(self, key: str, waiting: Collection[WaitingPod]) -> int:
        """Return how many members have a node, those on their way included.

        Args:
            key: The group.
            waiting: Its members that wait.
        """
        count = self._places.count((key, _Wait.BOUND)) + len(waiting)
        passed = self._on_their_way(key)
        if passed:
            # Allowed members may not have left Permit yet.
            count += len(
                passed.keys() - {waiting_pod.pod.uid for waiting_pod in waiting}
            )
        return count

    def let_pass(self, key: str, pod: Pod) -> None:
        """Record that a member of a group no longer has to wait."""
        self._passed.setdefault(key, {})[pod.metadata.uid] = pod.key

    def has_passed(self, key: str, pod: Pod) -> bool:
        """Whether a member no longer has to wait, and is not on its node yet."""
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
