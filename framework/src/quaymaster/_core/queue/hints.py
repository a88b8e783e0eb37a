"""The events that plugins register, and the questions to their hints.

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
"""Plugin name -> what it registered; None if it registers nothing of its own."""

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
"""The events of a plugin that registers none itself. As upstream's, the list leaves
volume attachments and resource slices out. It is not the wildcard, since only kinds
that are named are followed."""

_ALWAYS: Final = object()
"""The key of pods that any change may concern."""

_NODE_TAINT = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)


class Strategy(enum.Enum):
    """The ways in which an event moves a rejected pod."""

    SKIP = "skip"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


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
        for one in self.registrations:
            if one.hint_index is not None and one.hint_index not in indexes.get(
                one.plugin, ()
            ):
                indexes.setdefault(one.plugin, []).append(one.hint_index)
        self.indexes: Mapping[str, Sequence[HintIndex]] = indexes

    def matching(self, event: ClusterEvent) -> _Hints:
        """Return the plugins that want to hear of an event, with their hints."""
        found = self._matching.get(event)
        if found is None:
            found = self._matching[event] = tuple(
                (registered.plugin, registered.hint)
                for registered in self.registrations
                if registered.event.matches(event)
            )
        return found


class HintRegistry:
    """The registrations of all profiles.

    Args:
        profiles: Scheduler name -> what its plugins registered.
        adds_taint_events: Whether who registers for new nodes hears of taints, too.
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
        """Return the plugins, of any profile, that want to hear of an event."""
        if isinstance(event, PluginChange):
            return (event.plugin,)
        found = self._interested.get(event)
        if found is None:
            found = self._interested[event] = tuple(
                dict.fromkeys(
                    plugin
                    for profile in self._profiles.values()
                    for plugin, _ in profile.matching(event)
                )
            )
        return found

    def wanted(
        self, event: ClusterEvent, old: ApiObject | None, new: ApiObject | None
    ) -> Mapping[str, Iterable[Hashable] | None]:
        """Return the plugins to ask about an event, and about which pods.

        Args:
            event: The event.
            old: The object before the change, or None.
            new: The object after the change, or None.

        Returns:
            Plugin -> the keys of its pods that the event may concern; None: all.
        """
        plugins = self.interested(event)
        if not self._has_indexes or isinstance(event, PluginChange):
            return dict.fromkeys(plugins)
        return {plugin: self._keys(plugin, event, old, new) for plugin in plugins}

    def keys_of(self, pod: Pod, plugin: str) -> Collection[Hashable] | None:
        """Return the keys by which a plugin finds a pod; None if it has no index."""
        if plugin not in self._indexing:
            return None
        profile = self._profiles.get(pod.spec.scheduler_name)
        indexes = profile.indexes.get(plugin) if profile is not None else None
        if not indexes:
            return (_ALWAYS,)
        found: dict[Hashable, None] = {}
        for index in indexes:
            keys = _asked(plugin, index.pod_keys, pod)
            if keys is None:
                found[index, _ALWAYS] = None
            else:
                found.update(((index, key), None) for key in keys)
        return found.keys()

    def _keys(
        self,
        plugin: str,
        event: ClusterEvent,
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> Iterable[Hashable] | None:
        """The keys of the pods of a plugin, in any profile; None: all of them."""
        indexes = self._indexes(plugin, event)
        if indexes is None:
            return None
        found: list[Hashable] = [_ALWAYS]
        for index in indexes:
            keys = _asked(plugin, index.event_keys, old, new)
            if keys is None:
                return None
            found.append((index, _ALWAYS))
            found += ((index, key) for key in keys)
        return found

    def _indexes(self, plugin: str, event: ClusterEvent) -> Sequence[HintIndex] | None:
        """The indexes of a plugin for an event; None: a registration has none."""
        key = (plugin, event)
        if key not in self._indexes_of:
            found = [
                one.hint_index
                for one in self._registrations()
                if one.plugin == plugin and one.event.matches(event)
            ]
            indexes = [index for index in found if index is not None]
            self._indexes_of[key] = indexes if len(indexes) == len(found) else None
        return self._indexes_of[key]

    def may_ungate(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether a gating plugin wants to hear of an event, in any profile."""
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
        """Whether a plugin registered this very resource with any of these actions."""
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
        """Return a profile's plugins that want to hear of an event; None if unknown."""
        if isinstance(event, PluginChange):
            is_meant = event.scheduler_name == scheduler_name
            return ((event.plugin, None),) if is_meant else ()
        profile = self._profiles.get(scheduler_name)
        return None if profile is None else profile.matching(event)

    def _registrations(self) -> Iterator[_Registration]:
        for profile in self._profiles.values():
            yield from profile.registrations


class Question:
    """One event, put to the plugins that rejected pods.

    Args:
        registry: Knows which plugins want to hear of it.
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
        """Return what the event means for one pod that at least one plugin rejected."""
        if self._is_wildcard:
            return self._wildcard_strategy(queued)
        rejectors = queued.rejectors
        hints = self._hints_for(queued.pod.spec.scheduler_name)
        if hints is None:
            return Strategy.AFTER_BACKOFF
        pending = queued.pending_plugins
        strategy = Strategy.SKIP
        for plugin, hint in hints:
            if plugin not in rejectors or not self._helps(queued.pod, plugin, hint):
                continue
            if plugin in pending:
                return Strategy.IMMEDIATELY
            if not pending:
                return Strategy.AFTER_BACKOFF
            # A pending plugin may still say more than this one did.
            strategy = Strategy.AFTER_BACKOFF
        return strategy

    def _wildcard_strategy(self, queued: QueuedPod) -> Strategy:
        """Say what a wildcard means; one with an object is aimed at that pod alone."""
        target = self._new
        if target is None:
            return Strategy.AFTER_BACKOFF
        if isinstance(target, Pod) and target.uid == queued.pod.uid:
            return Strategy.AFTER_BACKOFF
        return Strategy.SKIP

    def _hints_for(self, scheduler_name: str) -> _Hints | None:
        try:
            return self._by_profile[scheduler_name]
        except KeyError:
            hints = self._registry.matching(scheduler_name, self._event)
            self._by_profile[scheduler_name] = hints
            return hints

    def _helps(self, pod: Pod, plugin: str, hint: QueueingHintFn | None) -> bool:
        """Whether a plugin's hint says that the event helps; a failure says so."""
        if hint is None:
            return True
        try:
            return hint(pod, self._old, self._new) is not QueueingHint.SKIP
        except BaseException as error:
            # Here, and not by a guard around it: that would be one more call for each
            # pod that an event may help.
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


def _asked(
    plugin: str, keys_of: Callable[..., Iterable[Hashable] | None], *args: object
) -> Iterable[Hashable] | None:
    """Ask for keys; a failure says that any pod may be concerned."""
    try:
        keys = keys_of(*args)
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
    for plugin, told in events.items():
        registered = _EVERYTHING if told is None else told
        for item in registered:
            yield _Registration(item.event, plugin, item.hint, item.index)
        if adds_taint_events and _needs_taint_event(registered):
            yield _Registration(_NODE_TAINT, plugin, None)


def _needs_taint_event(registered: Sequence[ClusterEventWithHint]) -> bool:
    """Whether Kubernetes 1.36 adds taint updates for a plugin that awaits new nodes.

    A new node may arrive tainted, and upstream does not show such a node to all pods:
    the plugin must hear of it again when the taint goes.
    """
    actions = [
        item.event.action
        for item in registered
        if item.event.resource is EventResource.NODE
    ]
    return any(action & ActionType.ADD for action in actions) and not any(
        action & ActionType.UPDATE_NODE_TAINT for action in actions
    )
