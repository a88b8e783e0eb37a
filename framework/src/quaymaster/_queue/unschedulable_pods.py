"""The pods that wait for an event, findable by the plugins that rejected them."""

from collections.abc import Iterable, Iterator, Sequence

from quaymaster._queue.queued_pod import QueuedPod

__all__ = ["UnschedulablePods"]


class UnschedulablePods:
    """Rejected and gated pods by key.

    Most events interest few plugins, and most pods are rejected by few: an index by
    plugin lets an event find the pods that it may help without looking at the others.
    """

    __slots__ = ("_by_plugin", "_pods")

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._by_plugin: dict[str, dict[str, QueuedPod]] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        """All of them, in order of arrival."""
        return iter(self._pods.values())

    def put(self, queued: QueuedPod) -> None:
        """Add a pod, or add it again when it or its plugins have changed."""
        key = queued.key
        self._pods[key] = queued
        for plugin in queued.rejectors:
            self._by_plugin.setdefault(plugin, {})[key] = queued

    def remove(self, queued: QueuedPod) -> None:
        """Take a pod out."""
        key = queued.key
        del self._pods[key]
        for plugin in queued.rejectors:
            pods = self._by_plugin[plugin]
            del pods[key]
            if not pods:
                del self._by_plugin[plugin]

    def rejected_by(self, plugins: Iterable[str]) -> Sequence[QueuedPod]:
        """Return the pods that at least one of these plugins rejected."""
        groups = [pods for plugin in plugins if (pods := self._by_plugin.get(plugin))]
        if not groups:
            return ()
        if len(groups) == 1:
            return list(groups[0].values())
        found: dict[str, QueuedPod] = {}
        for pods in groups:
            found.update(pods)
        return list(found.values())
