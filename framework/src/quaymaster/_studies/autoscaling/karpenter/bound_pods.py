"""The pods on nodes, kept up to date pod by pod."""

from collections.abc import Collection, Iterable, Sequence

from quaymaster._api.objects import Pod

__all__ = ["BoundPods"]


class BoundPods:
    """The pods of each node, in the order of their creation.

    Args:
        pods: Pods in that order; those without a node do not count.
    """

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._created = 0
        self._places: dict[str, int] = {}
        # Pods that have ended are apart: their requests do not count.
        self._groups: dict[str, tuple[str, bool]] = {}
        self._pods: dict[tuple[str, bool], dict[str, Pod]] = {}
        self._lists: dict[tuple[str, bool], Sequence[Pod]] = {}
        self._unbound: dict[str, Pod] = {}
        self._unbound_list: Sequence[Pod] | None = ()
        self._changed: set[str] = set()
        for pod in pods:
            self.put(pod)

    def put(self, pod: Pod) -> None:
        """Add a pod, or replace an earlier version of it."""
        key, node = pod.key, pod.node_name
        if key not in self._places:
            self._places[key] = self._created
            self._created += 1
        self._take(key)
        if node:
            group = self._groups[key] = node, pod.is_finished
            self._pods.setdefault(group, {})[key] = pod
            self._lists.pop(group, None)
            self._changed.add(node)
        else:
            self._unbound[key] = pod
            self._unbound_list = None

    def drop(self, key: str) -> None:
        """Remove a pod."""
        self._take(key)
        self._places.pop(key, None)

    def on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node that have not ended.

        It is the same sequence until they change.
        """
        return self._of((node, False))

    def finished_on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node that have ended; the same until they change."""
        return self._of((node, True))

    def unbound(self) -> Sequence[Pod]:
        """Return the pods without a node; the same sequence until they change."""
        if self._unbound_list is None:
            keys = sorted(self._unbound, key=self._places.__getitem__)
            self._unbound_list = [self._unbound[key] for key in keys]
        return self._unbound_list

    def take_changes(self) -> Collection[str]:
        """Return the nodes whose pods have changed since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def _of(self, group: tuple[str, bool]) -> Sequence[Pod]:
        by_key = self._pods.get(group)
        if by_key is None:
            return ()
        pods = self._lists.get(group)
        if pods is None:
            keys = sorted(by_key, key=self._places.__getitem__)
            pods = self._lists[group] = [by_key[key] for key in keys]
        return pods

    def _take(self, key: str) -> None:
        """Take a pod from its node, if it is on one, before it comes to another."""
        if self._unbound.pop(key, None) is not None:
            self._unbound_list = None
        group = self._groups.pop(key, None)
        if group is None:
            return
        self._changed.add(group[0])
        del self._pods[group][key]
        if not self._pods[group]:
            del self._pods[group]
        self._lists.pop(group, None)
