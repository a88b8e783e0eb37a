"""Whether a cluster still gets anywhere."""

from collections import Counter
from collections.abc import Callable

from quaymaster._api.objects import Node, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster

__all__ = ["Outcomes"]


class Outcomes:
    """The outcomes that a cluster has had: its nodes by kind, and its pods.

    Nodes may come and go for ever, as when they expire soon, when a launch fails each
    time, or when new nodes do not help the pod that they were ordered for. Then the
    cluster changes, but no outcome is new.

    Args:
        cluster: The cluster.
        kind_of: Returns what nodes that are alike have in common, such as their group.
    """

    def __init__(
        self, cluster: InMemoryCluster, kind_of: Callable[[Node], str]
    ) -> None:
        self._cluster = cluster
        self._kind_of = kind_of
        self._version = -1
        self._pods = -1
        self._seen: set[object] = set()
        self._changed = self._renewed = cluster.clock.now()

    def look(self, settled_after: float) -> tuple[float, float]:
        """Return for how long nothing has changed, and no outcome was new.

        Args:
            settled_after: After how many seconds without a change the next change is
                not one of the autoscaler; all outcomes are new again.
        """
        now = self._cluster.clock.now()
        version = self._cluster.resource_version
        if version != self._version:
            self._version = version
            if now - self._changed > settled_after:
                self._forget(now)
            self._changed = now
            self._note(now)
        return now - self._changed, now - self._renewed

    def _forget(self, now: float) -> None:
        self._seen.clear()
        self._renewed = now

    def _note(self, now: float) -> None:
        pods = self._cluster.list(Pod).items
        # An autoscaler neither creates pods nor deletes them for good. Another number
        # means that something else has happened, so old outcomes may be reached again.
        if len(pods) != self._pods:
            self._pods = len(pods)
            self._forget(now)
        nodes = self._cluster.list(Node).items
        kinds = Counter(map(self._kind_of, nodes))
        bound = sum(bool(pod.node_name) for pod in pods)
        outcome = (frozenset(kinds.items()), bound)
        if outcome not in self._seen:
            self._seen.add(outcome)
            self._renewed = now
