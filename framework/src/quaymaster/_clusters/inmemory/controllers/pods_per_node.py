"""The number of pods of each node."""

from collections import Counter

from quaymaster._api.objects import Pod

__all__ = ["PodsPerNode"]


class PodsPerNode:
    """Counts the pods of each node, so that pods of an empty node are not looked for.

    With an autoscaler, most nodes that get or lose a taint are new, and most that go
    are empty. To look for their pods among all pods took 8 % of a simulation of 5,000
    nodes.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Count a pod that was created (no old), changed, or removed (no new)."""
        before = "" if old is None else old.node_name
        after = "" if new is None else new.node_name
        if before == after:
            return
        if after:
            self._counts[after] += 1
        if before:
            self._counts[before] -= 1
            if not self._counts[before]:
                del self._counts[before]

    def has_pods(self, node_name: str) -> bool:
        """Return whether a node, which need not exist, has any pods."""
        return node_name in self._counts
