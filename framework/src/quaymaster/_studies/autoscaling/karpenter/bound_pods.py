"""The pods on nodes, kept up to date pod by pod."""

from collections.abc import Iterable, Sequence

from quaymaster._api.objects import Pod

__all__ = ["BoundPods"]


class BoundPods:
    """The pods of each node that have not ended, in the order of their creation.

    Args:
        pods: Pods in that order; those without a node do not count.
    """

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._created = 0
        self._places: dict[str, int] = {}
        self._nodes: dict[str, str] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._lists: dict[str, Sequence[Pod]] = {}
        for pod in pods:
            self.put(pod)

    def put(self, pod: Pod) -> None:
        """Add a pod, or replace an earlier version of it."""
        key, node = pod.key, pod.node_name
        if key not in self._places:
            self._places[key] = self._created
            self._created += 1
        self._take(key)
        if node and not pod.is_finished:
            self._nodes[key] = node
            self._pods.setdefault(node, {})[key] = pod
            self._lists.pop(node, None)

    def drop(self, key: str) -> None:
        """Remove a pod."""
        self._places.pop(key, None)
        self._take(key)

    def on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node; the same sequence until they change."""
        if node not in self._pods:
            return ()
        pods = self._lists.get(node)
        if pods is None:
            by_key = self._pods[node]
            keys = sorted(by_key, key=self._places.__getitem__)
            pods = self._lists[node] = [by_key[key] for key in keys]
        return pods

    def _take(self, key: str) -> None:
        """Take a pod from its node, if it is on one, before it comes to another."""
        node = self._nodes.pop(key, None)
        if node is None:
            return
        del self._pods[node][key]
        if not self._pods[node]:
            del self._pods[node]
        self._lists.pop(node, None)
