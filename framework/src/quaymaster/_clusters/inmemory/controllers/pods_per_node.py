"""The pods of each node."""

from collections.abc import Iterable

from quaymaster._api.objects import Pod

__all__ = ["PodsPerNode"]


class PodsPerNode:
    """Finds the pods of nodes without a search among all pods.

    With an autoscaler, most nodes that get or lose a taint are new, and most that go
    have only pods that have ended. To look for their pods among all pods took 8 % of a
    simulation of 5,000 nodes.
    """

    def __init__(self) -> None:
        # Node -> uid of a pod -> its key.
        self._keys: dict[str, dict[str, str]] = {}
        # Uid -> the number of the pod, in the order of creation.
        self._numbers: dict[str, int] = {}
        self._created = 0

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Note a pod that was created (no old), changed, or removed (no new)."""
        pod = old if new is None else new
        if pod is None:
            return
        uid = pod.metadata.uid
        before = "" if old is None else old.node_name
        after = "" if new is None else new.node_name
        if old is None:
            self._created += 1
            self._numbers[uid] = self._created
        elif new is None:
            del self._numbers[uid]
        if before == after:
            return
        if after:
            if after not in self._keys:
                self._keys[after] = {}
            # As `ApiObject.key`, without the call: each bind comes here.
            self._keys[after][uid] = f"{pod.metadata.namespace}/{pod.metadata.name}"
        if before:
            keys = self._keys[before]
            del keys[uid]
            if not keys:
                del self._keys[before]

    def keys_on(self, nodes: Iterable[str]) -> list[str]:
        """Return the keys of the pods on some nodes, in the order of their creation.

        Args:
            nodes: The names of the nodes, which need not exist.
        """
        keys: dict[str, str] = {}
        for node in nodes:
            keys |= self._keys.get(node, {})
        return [keys[uid] for uid in sorted(keys, key=self._numbers.__getitem__)]
