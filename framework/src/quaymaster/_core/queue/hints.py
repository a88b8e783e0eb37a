"""The events that plugins register, and the calls of their queueing hints.

Mirrors ``buildQueueingHintMap`` (Kubernetes v1.36 and v1.37,
``pkg/scheduler/scheduler.go``), and ``isEventOfInterest`` and
``isPodWorthRequeuing`` in ``pkg/scheduler/backend/queue/scheduling_queue.go``.
"""

import enum
import logging
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Final, NamedTuple, TypeAlias

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cluster_events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    HintIndex,
    QueueingHint,
    QueueingHintFn,
)
from quaymaster._core.queue.events import PluginChange
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.runtime.failures import failure_of

__all__ = ["EventsByPlugin", "HintRegistry", "Question", "Strategy"]

EventsByPlugin: TypeAlias = Mapping[str, Sequence[ClusterEventWithHint] | None]
"""Plugin name -> its registrations; None if it does not register events itself."""

_log = logging.getLogger(__name__)

_EVERYTHING = tuple(
    ClusterEventWithHint(ClusterEvent(resource, ActionType.ALL))
    for resource in (
        EventResource.POD,
        EventResource.NODE,
        EventResource.PERSISTENT_VOLUME,
        EventResource.PERSISTENT_VOLUME_CLAIM,
        EventResource.CSI_NODE,
        EventResource.CSI_DRIVER,
        EventResource.CSI_STORAGE_CAPACITY,
        EventResource.STORAGE_CLASS,
        EventResource.RESOURCE_CLAIM,
        EventResource.DEVICE_CLASS,
    )
)
"""The events of a plugin that registers none itself. Like upstream's, the list leaves
volume attachments and resource slices out. It is not the wildcard, because only kinds
that are named are followed."""

_ALWAYS: Final = object()
"""The key of pods that every change may help."""

_NODE_TAINT = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)


class Strategy(enum.Enum):
    """The ways in which an event moves a rejected pod."""

    SKIP = "skip"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


# Constants, since Python 3.11 takes five times as long to read a member of an
# enumeration, and each event calls hints for all pods that it may help.
_SKIP: Final = Strategy.SKIP
_AFTER_BACKOFF: Final = Strategy.AFTER_BACKOFF
_HINT_SKIP: Final = QueueingHint.SKIP


class _Registration(NamedTuple):
    event: ClusterEvent
    plugin: str
    hint: QueueingHintFn | None
    hint_index: HintIndex | None = None


_Hints: TypeAlias = Sequence[tuple[str, QueueingHintFn | None]]


class _ProfileHints:
    """The registrations of one profile."""

    def __init__(self, events: EventsByPlugin, adds_taint_events: bool) -> None:
        self.registrations = tuple(_registrations(events, adds_taint_events))
        self._matching: dict[ClusterEvent, _Hints] = {}
        indexes: dict[str, list[HintIndex]] = {}
        for registered in self.registrations:
            index, plugin = registered.hint_index, registered.plugin
            if index is not None and index not in indexes.get(plugin, ()):
                indexes.setdefault(plugin, []).append(index)
        self.indexes: Mapping[str, Sequence[HintIndex]] = indexes

    def matching(self, event: ClusterEvent) -> _Hints:
        """Return the plugins that registered an event, with their hints."""
        hints = self._matching.get(event)
        if hints is None:
            # There are few different events, so each is matched once per profile.
            hints = self._matching[event] = tuple(
                (registered.plugin, registered.hint)
                for registered in self.registrations
                if registered.event.matches(event)
            )
        return hints


class HintRegistry:
    """The registrations of all profiles.

    Args:
        profiles: Scheduler name -> the registrations of its plugins.
        adds_taint_events: Whether plugins that register new nodes also get changed
            taints.
    """

    def __init__(
        self, profiles: Mapping[str, EventsByPlugin], *, adds_taint_events: bool
    ) -> None:
        self._profiles = {
            name: _ProfileHints(events, adds_taint_events)
            for name, events in profiles.items()
        }
        self._indexing = frozenset(
            plugin for profile in self._profiles.values() for plugin in profile.indexes
        )
        self._has_indexes = bool(self._indexing)
        self._indexes_of: dict[
            tuple[str, ClusterEvent], Sequence[HintIndex] | None
        ] = {}
        self._interested: dict[ClusterEvent, Sequence[str]] = {}
        self._ungating: dict[tuple[str, ClusterEvent], bool] = {}
        self._watched: dict[tuple[EventResource, ActionType], bool] = {}

    def interested(self, event: ClusterEvent) -> Sequence[str]:
        """Return the plugins, of any profile, that registered an event."""
        if isinstance(event, PluginChange):
            return (event.plugin,)
        plugins = self._interested.get(event)
        if plugins is None:
            plugins = self._interested[event] = tuple(
                dict.fromkeys(
                    plugin
                    for profile in self._profiles.values()
                    for plugin, _ in profile.matching(event)
                )
            )
        return plugins

    def keys_by_plugin(
        self, event: ClusterEvent, old: ApiObject | None, new: ApiObject | None
    ) -> Mapping[str, Iterable[Hashable] | None]:
        """Return the plugins that registered an event, with the keys of their pods.

        Args:
            event: The event.
            old: The object before the change, or None.
            new: The object after the change, or None.

        Returns:
            Plugin -> the keys of its pods that the event may help; None: all its pods.
        """
        plugins = self.interested(event)
        # Without indexes, the values need no calls of plugins.
        if not self._has_indexes or isinstance(event, PluginChange):
            return dict.fromkeys(plugins)
        return {plugin: self._keys(plugin, event, old, new) for plugin in plugins}

    def keys_of(self, pod: Pod, plugin: str) -> Collection[Hashable] | None:
        """Return a pod's keys in the indexes of a plugin; None if it has no index."""
        # Most plugins have no index. For these, None puts the pod under the plugin's
        # name alone, without calling anything.
        if plugin not in self._indexing:
            return None
        profile = self._profiles.get(pod.spec.scheduler_name)
        indexes = profile.indexes.get(plugin) if profile is not None else None
        # Another profile's plugin has the index: here every change may help the pod.
        if not indexes:
            return (_ALWAYS,)
        keys_of_pod: dict[Hashable, None] = {}
        for index in indexes:
            keys = _index_keys(plugin, index.pod_keys, pod)
            if keys is None:
                # With the index in the key: two registrations of one plugin may use
                # equal keys for different things.
                keys_of_pod[index, _ALWAYS] = None
            else:
                keys_of_pod.update(((index, key), None) for key in keys)
        return keys_of_pod.keys()

    def _keys(
        self,
        plugin: str,
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> Iterable[Hashable] | None:
        """Return the keys of a plugin's pods that an event may help; None: all pods."""
        indexes = self._indexes(plugin, event)
        if indexes is None:
            return None
        keys_of_event: list[Hashable] = [_ALWAYS]
        for index in indexes:
            keys = _index_keys(plugin, index.event_keys, old, new)
            if keys is None:
                return None
            keys_of_event.append((index, _ALWAYS))
            keys_of_event += ((index, key) for key in keys)
        return keys_of_event

    def _indexes(self, plugin: str, event: ClusterEvent) -> Sequence[HintIndex] | None:
        """Return a plugin's indexes for an event; None if a registration has none."""
        key = (plugin, event)
        if key not in self._indexes_of:
            matching = [
                registered.hint_index
                for registered in self._registrations()
                if registered.plugin == plugin and registered.event.matches(event)
            ]
            indexes = [index for index in matching if index is not None]
            # One registration without an index means that any pod may be helped, so the
            # other indexes select nothing.
            self._indexes_of[key] = indexes if len(indexes) == len(matching) else None
        return self._indexes_of[key]

    def may_ungate(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether a gating plugin registered an event, in any profile."""
        if isinstance(event, PluginChange):
            return event.plugin == plugin
        key = (plugin, event)
        answer = self._ungating.get(key)
        if answer is None:
            answer = self._ungating[key] = any(
                registered.plugin == plugin and registered.event.matches(event)
                for registered in self._registrations()
            )
        return answer

    def is_watched(self, resource: EventResource, action: ActionType) -> bool:
        """Whether a plugin registered this resource by name with one of the actions."""
        key = (resource, action)
        answer = self._watched.get(key)
        if answer is None:
            answer = self._watched[key] = any(
                registered.event.resource is resource
                and registered.event.action & action
                for registered in self._registrations()
            )
        return answer

    def matching(self, scheduler_name: str, event: ClusterEvent) -> _Hints | None:
        """Return the plugins of a profile that registered an event.

        Returns:
            The plugins with their hints, or None for an unknown profile.
        """
        if isinstance(event, PluginChange):
            is_same = event.scheduler_name == scheduler_name
            return ((event.plugin, None),) if is_same else ()
        profile = self._profiles.get(scheduler_name)
        return None if profile is None else profile.matching(event)

    def _registrations(self) -> Iterator[_Registration]:
        for profile in self._profiles.values():
            yield from profile.registrations


class Question:
    """Calls the queueing hints for one event.

    Args:
        registry: The registrations of all profiles.
        event: The event.
        old: The object before the change, or None.
        new: The object after the change, or None.
    """

    __slots__ = ("_by_profile", "_event", "_is_wildcard", "_new", "_old", "_registry")

    def __init__(
        self,
        registry: HintRegistry,
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> None:
        self._registry = registry
        self._event = event
        self._is_wildcard = event.is_wildcard
        self._old = old
        self._new = new
        self._by_profile: dict[str, _Hints | None] = {}

    def strategy(self, queued: QueuedPod) -> Strategy:
        """Return how the event moves a pod that at least one plugin rejected."""
        if self._is_wildcard:
            return self._wildcard_strategy(queued)
        rejectors = queued.rejectors
        hints = self._hints_for(queued.pod.spec.scheduler_name)
        if hints is None:
            return _AFTER_BACKOFF
        pending = queued.pending_plugins
        strategy = _SKIP
        for plugin, hint in hints:
            if plugin not in rejectors or not self._helps(queued.pod, plugin, hint):
                continue
            # A plugin that returned Pending waits for an outside process. Its event
            # ends the wait without a backoff (``isPodWorthRequeuing``); no other plugin
            # can give more.
            if plugin in pending:
                return Strategy.IMMEDIATELY
            if not pending:
                return _AFTER_BACKOFF
            # The hint of a pending plugin may still move the pod immediately.
            strategy = _AFTER_BACKOFF
        return strategy

    def _wildcard_strategy(self, queued: QueuedPod) -> Strategy:
        """Return how a wildcard moves a pod; one with an object moves that pod only."""
        target = self._new
        if target is None:
            # Not immediately: a flush after five minutes or a reload does not shorten a
            # backoff.
            return _AFTER_BACKOFF
        if isinstance(target, Pod) and target.uid == queued.pod.uid:
            return _AFTER_BACKOFF
        return _SKIP

    def _hints_for(self, scheduler_name: str) -> _Hints | None:
        # Not by an exception: for the patch of a pod, the pod is the only candidate.
        if scheduler_name in self._by_profile:
            return self._by_profile[scheduler_name]
        # Kept for the event, whose candidates mostly belong to the same profile.
        hints = self._registry.matching(scheduler_name, self._event)
        self._by_profile[scheduler_name] = hints
        return hints

    def _helps(self, pod: Pod, plugin: str, hint: QueueingHintFn | None) -> bool:
        """Whether a plugin's hint returns Queue; a failed hint counts as Queue."""
        if hint is None:
            return True
        try:
            return hint(pod, self._old, self._new) is not _HINT_SKIP
        except BaseException as error:
            # Caught here and not by a guard around the hint: a guard would be one more
            # call for each pod that an event may help.
            failure = failure_of(plugin, "queueing hint", error)
            if failure is None:
                raise
            _log.error(
                "queueing hint of plugin %r failed for pod %s on %s: %s",
                plugin,
                pod.key,
                self._event.label,
                describe_exception(failure),
            )
            return True


def _index_keys(
    plugin: str, keys_of: Callable[..., Iterable[Hashable] | None], *args: object
) -> Iterable[Hashable] | None:
    """Return keys of an index; None, for all pods, if the plugin fails."""
    try:
        keys = keys_of(*args)
        # Read at once: a generator of the plugin could fail later, outside of this
        # guard.
        return None if keys is None else frozenset(keys)
    except BaseException as error:
        failure = failure_of(plugin, "queueing hint", error)
        if failure is None:
            raise
        _log.error("index of plugin %r failed: %s", plugin, describe_exception(failure))
        return None


def _registrations(
    events: EventsByPlugin, adds_taint_events: bool
) -> Iterator[_Registration]:
    for plugin, own in events.items():
        registered = _EVERYTHING if own is None else own
        for item in registered:
            yield _Registration(item.event, plugin, item.hint, item.index)
        # ``buildQueueingHintMap`` of 1.36 did this, because ``preCheckForNode`` kept a
        # tainted new node from waking pods: the end of the taint had to wake those that
        # wait for new nodes. 1.37 has neither.
        if adds_taint_events and _needs_taint_event(registered):
            yield _Registration(_NODE_TAINT, plugin, None)


def _needs_taint_event(registered: Sequence[ClusterEventWithHint]) -> bool:
    """Whether Kubernetes 1.36 adds taint updates for a plugin that registers new nodes.

    A new node may arrive with a taint, and upstream skips such a node for some pods. So
    the plugin needs another event when the taint is removed.
    """
    actions = [
        item.event.action
        for item in registered
        if item.event.resource is EventResource.NODE
    ]
    return any(action & ActionType.ADD for action in actions) and not any(
        action & ActionType.UPDATE_NODE_TAINT for action in actions
    )
