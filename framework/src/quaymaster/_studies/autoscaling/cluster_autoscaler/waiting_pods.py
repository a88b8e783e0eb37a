"""The pods that wait for a node, as the loops place them."""

from collections import Counter
from collections.abc import Mapping, Set
from operator import attrgetter
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.seen_cluster import SeenPod

__all__ = ["BY_PLACE", "WaitingPod", "WaitingPods", "waiting_pod"]


@attrs.frozen(eq=False)
class WaitingPod:
    """A pod that waits.

    Attributes:
        seen: The pod as the loop has seen it.
        place: Its place in the order in which pods are placed.
    """

    seen: SeenPod
    place: tuple[int, bool, int]

    @property
    def pod(self) -> Pod:
        """The latest version of the pod."""
        return self.seen.pod

    @property
    def rank(self) -> int:
        """The first part of its place, which is equal for pods of one priority."""
        return self.place[0]


def waiting_pod(seen: SeenPod, *, is_last: bool = False) -> WaitingPod:
    """Return a pod with its place in the order.

    Args:
        seen: The pod.
        is_last: Whether it comes after the other pods of its priority.
    """
    return WaitingPod(seen, (-seen.pod.priority, is_last, seen.number))


BY_PLACE: Final = attrgetter("place")


class WaitingPods:
    """All pods that wait, by uid.

    A loop is to cost as much as what has changed since the last one: with 60 waiting
    pods, to look at each of them in each loop took a third of the loops of a day.
    """

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}
        self._per_rank: Counter[int] = Counter()

    def get(self, uid: str) -> WaitingPod | None:
        """Return a pod, or None if it does not wait."""
        return self._pods.get(uid)

    def uids(self) -> Set[str]:
        """Return the uids of all pods."""
        return self._pods.keys()

    def first_rank(self) -> int | None:
        """Return the rank of the pods that are placed first; None without pods."""
        return min(self._per_rank, default=None)

    def of_rank(self, rank: int | None) -> list[str]:
        """Return the uids of the pods of a rank."""
        return [uid for uid, each in self._pods.items() if each.rank == rank]

    def update(self, changes: Mapping[str, WaitingPod | None]) -> None:
        """Add or replace pods; pods without a value do not wait now."""
        for uid, each in changes.items():
            before = self._pods.pop(uid, None)
            if before is not None:
                self._count(before.rank, -1)
            if each is not None:
                self._pods[uid] = each
                self._count(each.rank, 1)

    def _count(self, rank: int, more: int) -> None:
        self._per_rank[rank] += more
        if not self._per_rank[rank]:
            del self._per_rank[rank]
