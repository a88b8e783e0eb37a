"""The groups that wait because one of their pods is gated, by what may help them."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.queue.queued_pod import NO_PLUGINS, QueuedPod
from quaymaster._core.queue.unschedulable_pods import KeysOf, UnschedulablePods
from quaymaster._core.queue.wait_starts import WaitStarts

__all__ = ["GatedGroups"]


class GatedGroups:
    """Gated groups by key, with an index by the plugins that rejected their pods.

    Each new pod is an event for all gated groups. With the index, it looks at the
    groups that it may help. A large gang calls its gates after each of its pods, so
    that what has not changed since the last call is not indexed again.

    Args:
        keys_of: Returns the keys by which a plugin finds a pod.

    Attributes:
        groups: The groups by their keys, in order of arrival.
        starts: The same groups, by the start of their wait.
    """

    __slots__ = ("_entries", "_index", "_keys_of", "_unrejected", "groups", "starts")

    def __init__(self, keys_of: KeysOf[QueuedPod]) -> None:
        self._keys_of = keys_of
        self.groups: dict[str, QueuedGroup] = {}
        self.starts: WaitStarts[QueuedGroup] = WaitStarts()
        self._entries: dict[str, _Entry] = {}
        self._index: UnschedulablePods[_Entry] = UnschedulablePods(_Entry.keys_for)
        # The groups with a pod that no plugin has rejected: events that the gating
        # plugin registered wake them without a hint.
        self._unrejected: dict[str, None] = {}

    def put(self, group: QueuedGroup) -> None:
        """Add a group, or update it when its pods or their plugins have changed."""
        key = group.key
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(key)
        self.groups[key] = group
        self.starts.put(group)
        self._unrejected.pop(key, None)
        fresh = []
        for queued in _unsettled(group):
            rejectors = queued.rejectors
            if not rejectors:
                self._unrejected[key] = None
            elif entry.indexed.get(queued.key) != rejectors:
                fresh.append(queued)
        if fresh:
            self._add(entry, fresh)

    def join(self, group: QueuedGroup, queued: QueuedPod) -> None:
        """Add a pod to a gated group."""
        if queued.rejectors:
            self._add(self._entries[group.key], (queued,))
        else:
            self._unrejected[group.key] = None

    def changed(self, group: QueuedGroup, queued: QueuedPod) -> None:
        """Index a changed pod again with the next `put`."""
        entry = self._entries.get(group.key)
        if entry is not None:
            entry.indexed.pop(queued.key, None)

    def remove(self, group: QueuedGroup) -> None:
        """Remove a group."""
        key = group.key
        del self.groups[key]
        self.starts.remove(key)
        self._unrejected.pop(key, None)
        entry = self._entries.pop(key)
        if entry.rejectors:
            self._index.remove(entry)

    def rejected_by(
        self, plugins: Mapping[str, Iterable[Hashable] | None]
    ) -> Sequence[QueuedGroup]:
        """Return the groups with a pod that one of these plugins may help.

        Args:
            plugins: Plugin -> the keys of its pods; None: all of them.
        """
        keys = dict(self._unrejected)
        keys.update((entry.key, None) for entry in self._index.rejected_by(plugins))
        return [self.groups[key] for key in keys]

    def _add(self, entry: "_Entry", fresh: Iterable[QueuedPod]) -> None:
        if entry.rejectors:
            self._index.remove(entry)
        for queued in fresh:
            rejectors = entry.indexed[queued.key] = queued.rejectors
            # The set only grows: keys of pods that have left stay until the group does.
            # A key too many costs one look at the group; to remove keys would need a
            # count for each.
            entry.rejectors |= rejectors
            for plugin in rejectors:
                entry.add(plugin, self._keys_of(queued, plugin))
        self._index.put(entry)


def _unsettled(group: QueuedGroup) -> Iterable[QueuedPod]:
    """Return the pods whose plugins may have changed since the last call of `put`."""
    if group.held is None:
        return group.pods
    return chain(group.called.values(), group.joined.values())


class _Entry(msgspec.Struct, eq=False):
    """What may help a gated group: the plugins and keys of all its pods.

    Attributes:
        key: The key of the group.
        rejectors: The plugins that rejected a pod.
        indexed: Key of a pod -> its plugins, when it was indexed.
        keys: Plugin -> the keys of the pods; None: every event may help.
    """

    key: str
    rejectors: frozenset[str] = NO_PLUGINS
    indexed: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    keys: dict[str, set[Hashable] | None] = msgspec.field(default_factory=dict)

    def add(self, plugin: str, keys: Collection[Hashable] | None) -> None:
        """Add the keys of a pod."""
        if keys is None:
            self.keys[plugin] = None
            return
        present = self.keys.setdefault(plugin, set())
        if present is not None:
            present.update(keys)

    def keys_for(self, plugin: str) -> Collection[Hashable] | None:
        """Return the keys by which a plugin finds the group; None: by all."""
        return self.keys[plugin]
