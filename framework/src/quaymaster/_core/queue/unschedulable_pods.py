"""The pods that wait for an event, with an index by the plugins that rejected them."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

__all__ = ["KeysOf", "UnschedulablePods"]


class Rejected(Protocol):
    """A record with the plugins whose events may help it."""

    @property
    def key(self) -> str:
        """What identifies it."""

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins."""


RejectedT = TypeVar("RejectedT", bound=Rejected)

KeysOf: TypeAlias = Callable[[RejectedT, str], Collection[Hashable] | None]
"""Returns the keys by which a plugin finds a pod; None if it has no index."""


class UnschedulablePods(Generic[RejectedT]):
    """Rejected and gated pods by key.

    Few plugins register an event, and few plugins reject a pod. With an index by
    plugin, an event looks only at the pods that it may help. A plugin may add an index
    of its own pods by keys. (Without that, 2,000 pods whose claims come one by one took
    17 s of processor time.)

    Args:
        keys_of: Returns the keys of a pod for a plugin.

    Attributes:
        pods: All pods by key, in order of arrival.
    """

    __slots__ = ("_by_plugin", "_keys_of", "pods")

    def __init__(self, keys_of: KeysOf[RejectedT]) -> None:
        self._keys_of = keys_of
        self.pods: dict[str, RejectedT] = {}
        self._by_plugin: dict[str, _Rejected[RejectedT]] = {}

    def __len__(self) -> int:
        return len(self.pods)

    def __iter__(self) -> Iterator[RejectedT]:
        """All pods, in order of arrival."""
        return iter(self.pods.values())

    def put(self, queued: RejectedT) -> None:
        """Add a pod, or update it when it or its plugins have changed."""
        pod = queued.key
        self.pods[pod] = queued
        for plugin in queued.rejectors:
            group = self._by_plugin.get(plugin)
            if group is None:
                group = self._by_plugin[plugin] = _Rejected()
            keys = self._keys_of(queued, plugin)
            if keys is None and not group.has_keys:
                group.pods[pod] = queued
            else:
                group.put(queued, keys)

    def update_keys(self, queued: RejectedT) -> None:
        """Update the keys of a pod that has changed, while its plugins are the same."""
        for plugin in queued.rejectors:
            group = self._by_plugin[plugin]
            if group.has_keys:
                group.put(queued, self._keys_of(queued, plugin))

    def remove(self, queued: RejectedT) -> None:
        """Remove a pod."""
        key = queued.key
        del self.pods[key]
        for plugin in queued.rejectors:
            group = self._by_plugin[plugin]
            if group.has_keys:
                group.remove(key)
            else:
                del group.pods[key]
            if not group.pods:
                del self._by_plugin[plugin]

    def move_to_end(self, queued: RejectedT, rejectors: frozenset[str]) -> None:
        """Treat a pod that stays as the last one to arrive.

        Args:
            queued: The pod; its plugins may be more than before.
            rejectors: The plugins that had rejected it when it was put here.
        """
        key = queued.key
        del self.pods[key]
        self.pods[key] = queued
        for plugin in rejectors:
            self._by_plugin[plugin].move_to_end(queued, self._keys_of, plugin)
        # Identity: mostly no gate has added itself, and then the set is the same.
        if queued.rejectors is not rejectors:
            self.put(queued)

    def rejected_by(
        self, plugins: Mapping[str, Iterable[Hashable] | None]
    ) -> Collection[RejectedT]:
        """Return the pods that at least one of these plugins rejected.

        Args:
            plugins: Plugin -> the keys of the pods to return; None: all of them.
        """
        rejected: dict[str, RejectedT] = {}
        for plugin, keys in plugins.items():
            group = self._by_plugin.get(plugin)
            if group is not None:
                rejected.update(group.pods if keys is None else group.having(keys))
        return list(rejected.values())


_NO_PODS: Final[Mapping[str, None]] = {}


class _Rejected(Generic[RejectedT]):
    """The pods that one plugin rejected, in order of arrival.

    Attributes:
        has_keys: Whether any of them has ever had keys.
        pods: The pods by key.
    """

    __slots__ = ("_by_key", "_keys", "_place", "_places", "has_keys", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, RejectedT] = {}
        self.has_keys = False
        self._keys: dict[str, Collection[Hashable]] = {}
        self._by_key: dict[Hashable, dict[str, None]] = {}
        self._place: dict[str, int] = {}
        self._places = 0

    def put(self, queued: RejectedT, keys: Collection[Hashable] | None) -> None:
        pod = queued.key
        self.pods[pod] = queued
        if pod in self._keys:
            self._forget(pod)
        if keys is None:
            return
        self.has_keys = True
        if pod not in self._place:
            self._places += 1
            self._place[pod] = self._places
        self._keys[pod] = keys
        for key in keys:
            self._by_key.setdefault(key, {})[pod] = None

    def remove(self, pod: str) -> None:
        del self.pods[pod]
        if pod in self._keys:
            self._forget(pod)
            del self._place[pod]

    def move_to_end(
        self, queued: RejectedT, keys_of: KeysOf[RejectedT], plugin: str
    ) -> None:
        pod = queued.key
        if pod in self._keys:
            self.remove(pod)
            self.put(queued, keys_of(queued, plugin))
        else:
            del self.pods[pod]
            self.pods[pod] = queued

    def having(self, keys: Iterable[Hashable]) -> Mapping[str, RejectedT]:
        """Return the pods with any of these keys, in order of arrival."""
        pods: dict[str, None] = {}
        for key in keys:
            pods.update(self._by_key.get(key, _NO_PODS))
        # In the order of arrival, so that an index does not change who is woken first.
        ordered = sorted(pods, key=self._place.__getitem__)
        return {pod: self.pods[pod] for pod in ordered}

    def _forget(self, pod: str) -> None:
        for key in self._keys.pop(pod):
            pods = self._by_key[key]
            del pods[pod]
            if not pods:
                del self._by_key[key]
