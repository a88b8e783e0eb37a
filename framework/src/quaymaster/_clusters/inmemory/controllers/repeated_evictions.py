"""Detects pods that are evicted again and again, since their owner replaces them.

A pod that tolerates a taint for some seconds may be placed on the tainted node, is
evicted, and its replacement is placed there again. A real cluster goes on like this for
ever. A simulation must end when the cluster has settled, so here such pods stay after
many evictions. Taints that are added under running pods do not count.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from quaymaster._api.objects import Pod

__all__ = ["EvictedWorkload", "RepeatedEvictions"]

# Chosen, not measured: each pod of the workload was replaced that often on average.
_MOST: Final = 20


class EvictedWorkload(NamedTuple):
    """The owner of evicted pods.

    Attributes:
        kind: Its kind.
        namespace: Its namespace.
        name: Its name.
    """

    kind: str
    namespace: str
    name: str


class RepeatedEvictions:
    """Counts the evictions of the pods of each owner.

    Args:
        pods: The pods of the cluster, by key.
    """

    def __init__(self, pods: Mapping[str, Pod]) -> None:
        self._pods = pods
        self._counts: Counter[str] = Counter()
        self._arrived: set[str] = set()  # uids
        self._endless: dict[str, EvictedWorkload] = {}

    def arrived(self, pod: Pod) -> None:
        """Note that a pod came to a taint that was there."""
        self._arrived.add(pod.uid)

    def removed(self, pod: Pod) -> None:
        """Forget a pod that was removed."""
        self._arrived.discard(pod.uid)

    def evicted(self, pod: Pod) -> None:
        """Count the eviction of a pod that came to a taint."""
        owner = pod.metadata.controller
        if owner is None or pod.uid not in self._arrived:
            return
        self._counts[owner.uid] += 1
        count = self._counts[owner.uid]
        # Counting the pods takes long, so it is not done each time.
        if count % _MOST == 0 and count >= _MOST * self._size(owner.uid):
            workload = EvictedWorkload(owner.kind, pod.namespace, owner.name)
            self._endless[owner.uid] = workload

    def is_endless(self, pod: Pod) -> bool:
        """Return whether a pod came to a taint, as too many before it, and stays."""
        owner = pod.metadata.controller
        return (
            owner is not None
            and owner.uid in self._endless
            and pod.uid in self._arrived
        )

    def workloads(self) -> Iterator[EvictedWorkload]:
        """Yield the owners whose pods are evicted again and again."""
        yield from self._endless.values()

    def _size(self, uid: str) -> int:
        controllers = (pod.metadata.controller for pod in self._pods.values())
        return sum(
            controller is not None and controller.uid == uid
            for controller in controllers
        )
