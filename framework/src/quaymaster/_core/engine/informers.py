"""The engine's copy of the cluster: list once, then follow the watches.

Watches are read in batches on the engine's thread. After a watch has expired, the kind
is listed again, and the differences are passed on as changes. Mirrors ``Reflector`` and
shared informers (k8s.io/client-go v0.36, ``tools/cache``).
"""

import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._core.contract.cluster import (
    ApiError,
    Cluster,
    ListPendingError,
    ResourceExpiredError,
    Watch,
    WatchEvent,
    WatchEventType,
)
from quaymaster._core.contract.informers import ObjectCallback, UnfollowedKindError
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["ChangeHandler", "EngineInformers"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)

# A lookup in the enumeration is a call of 70 ns in Python 3.11, for each event.
_DELETED: Final = WatchEventType.DELETED

_log = logging.getLogger(__name__)


class ChangeHandler(Protocol):
    """Handles every change of the cluster, one by one, on the engine's thread."""

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Handle that an object was added (no old), changed, or deleted (no new).

        Args:
            kind: The class of the object.
            old: The last version that the handler got, or None.
            new: The current version, or None.
            missed: Whether the deletion itself was missed, and ``old`` may be stale.
        """


class _Reflector(Generic[ObjT]):
    """Follows one kind.

    Attributes:
        objects: Key -> object, in the version that the handler got last.
        is_listed: Whether the kind has ever been listed.
    """

    def __init__(
        self,
        kind: type[ObjT],
        cluster: Cluster,
        notify: Callable[["_Reflector[Any]"], None],
        retry_later: Callable[[Callable[[], None]], object],
    ) -> None:
        self._kind = kind
        self._is_namespaced = kind.namespaced
        self._cluster = cluster
        self._handler: ChangeHandler | None = None
        self._notify = partial(notify, self)
        self._retry_later = retry_later
        self._watch: Watch[ObjT] | None = None
        self._version = 0
        self._must_list = True
        self._is_paused = False
        self._problem = ""
        self.is_listed = False
        self.objects: dict[str, ObjT] = {}
        self._log: ChangeLog[str] | None = None
        # Replaced, never changed in place: a callback may end another one.
        self._callbacks: tuple[ObjectCallback[ObjT], ...] = ()

    def on_change(self, callback: ObjectCallback[ObjT]) -> Callable[[], None]:
        """Pass the existing objects, and then all changes, to a callback.

        Returns:
            A function that ends the calls.
        """
        self._callbacks += (callback,)
        for obj in list(self.objects.values()):
            callback(None, obj)

        def end() -> None:
            self._callbacks = tuple(
                other for other in self._callbacks if other != callback
            )

        return end

    def changes(self) -> ChangeLog[str]:
        """Return the log of the changes, which is written from the first call on."""
        if self._log is None:
            self._log = ChangeLog()
        return self._log

    @property
    def is_started(self) -> bool:
        """Whether the kind is followed."""
        return self._handler is not None

    def start(self, handler: ChangeHandler) -> None:
        """List and watch the kind, and pass all changes to this handler."""
        self._handler = handler
        self.recover()

    def list(self) -> None:
        """List the kind, pass the differences to the handler, and watch from there."""
        listed = self._cluster.list(self._kind)
        if listed.resource_version < self._version:
            # The list of a lagging replica would revert changes that were passed on.
            raise ApiError(f"{self._kind.kind}: the list is older than the cached one")
        # Store all objects before the first change: its handler may look up others.
        before, self.objects = self.objects, {obj.key: obj for obj in listed.items}
        for key, obj in self.objects.items():
            old = before.pop(key, None)
            if old is None:
                self._pass_on(key, None, obj)
            # Deleted and created again while nothing was watched: plugins must see
            # both.
            elif old.uid != obj.uid:
                self._pass_on(key, old, None, missed=True)
                self._pass_on(key, None, obj)
            elif old.metadata.resource_version != obj.metadata.resource_version:
                self._pass_on(key, old, obj)
        for key, deleted in before.items():
            self._pass_on(key, deleted, None, missed=True)
        self._version = listed.resource_version
        self._must_list = False
        self.is_listed = True
        self._connect()

    def sync(self) -> bool:
        """Handle the events of the watch; return whether there was anything to do."""
        if self._is_paused:
            return False
        if self._watch is None:
            self.recover()
            return True
        try:
            events = self._watch.take()
        except ApiError as error:
            self._watch = None
            self._must_list = isinstance(error, ResourceExpiredError)
            self.recover()
            return True
        for event in events:
            self._apply(event)
        return bool(events)

    def recover(self) -> None:
        """Watch again, after a new list if it is needed; if that fails, retry later."""
        try:
            if not self._must_list:
                try:
                    self._connect()
                    return
                except ResourceExpiredError:
                    self._must_list = True
            self.list()
        except ListPendingError as pending:
            self._is_paused = True
            pending.ask_again(self._end_pause)
        except ApiError as error:
            self._pause(str(error))

    def _pause(self, problem: str) -> None:
        # Log a problem once: the kind may be tried every second for a long time.
        if problem != self._problem:
            self._problem = problem
            _log.warning("%s cannot be followed: %s", self._kind.kind, problem)
        self._is_paused = True
        self._retry_later(self._end_pause)

    def _end_pause(self) -> None:
        self._is_paused = False
        self._notify()

    def _connect(self) -> None:
        self._watch = self._cluster.watch(self._kind, self._version, self._notify)
        self._problem = ""

    def _apply(self, event: WatchEvent[ObjT]) -> None:
        if event.resource_version <= self._version:
            return  # an old event could bring back an object that was deleted
        new = event.object
        # Same as `ApiObject.key`, without the call: there are two events for each pod.
        name, key = new.metadata, new.metadata.name
        if self._is_namespaced:
            key = f"{name.namespace}/{key}"
        self._version = event.resource_version
        if event.type is _DELETED:
            stored = self.objects.pop(key, None)
            if stored is not None:
                last = stored if event.is_missed else new
                self._pass_on(key, last, None, missed=event.is_missed)
            return
        objects = self.objects
        old = objects.get(key)
        objects[key] = new
        # The deletion between the two objects was not delivered.
        if old is not None and old.metadata.uid != new.metadata.uid:
            self._pass_on(key, old, None, missed=True)
            old = None
        self._pass_on(key, old, new)

    def _pass_on(
        self, key: str, old: ObjT | None, new: ObjT | None, *, missed: bool = False
    ) -> None:
        """Add a change to the log, if there is one, and pass it to all who follow."""
        if self._log is not None:
            self._log.note(key, is_new=old is None)
        for callback in self._callbacks:
            callback(old, new)
        assert self._handler is not None, "it was started"
        self._handler.changed(self._kind, old, new, missed=missed)


class EngineInformers:
    """The copies of all kinds that are followed; implements `quaymaster.Informers`.

    Args:
        cluster: The cluster to follow.
        notify: Called, from any thread, when there is something to `sync`.
        retry_later: Calls its argument after some time, on the engine's thread: then a
            kind that cannot be followed now is tried again.
        kinds: The kinds to follow, in addition to nodes and pods.
    """

    def __init__(
        self,
        cluster: Cluster,
        notify: Callable[[], None],
        retry_later: Callable[[Callable[[], None]], object] = lambda retry: retry(),
        kinds: Iterable[type[ApiObject]] = (),
    ) -> None:
        self._cluster = cluster
        self._notify = notify
        self._retry_later = retry_later
        # The reflectors whose watches may have events; filled from any thread. Without
        # it, each turn would have to read the watches of all kinds, which are sixteen.
        self._notified: deque[_Reflector[Any]] = deque()
        self._reflectors: dict[type[ApiObject], _Reflector[Any]] = {}
        self._has_listed = False
        self.follow((*kinds, Node, Pod))

    def follow(self, kinds: Iterable[type[ApiObject]]) -> Sequence[type[ApiObject]]:
        """Follow more kinds, from the next `start` on.

        Returns:
            The kinds that were not followed before.

        Raises:
            KindError: Two classes are of the same kind.
        """
        kinds = KindSet((*self._reflectors, *kinds))
        new = [kind for kind in kinds if kind not in self._reflectors]
        for kind in new:
            self._reflectors[kind] = _Reflector(
                kind, self._cluster, self._note_events, self._retry_later
            )
        # Pods come last, so that the objects that they refer to are there by then.
        for kind in (Node, Pod) if new else ():
            self._reflectors[kind] = self._reflectors.pop(kind)
        self._has_listed = self._has_listed and not new
        return new

    def forget(self, kinds: Iterable[type[ApiObject]]) -> None:
        """Undo `follow`, before `start`."""
        for kind in kinds:
            del self._reflectors[kind]

    @property
    def kinds(self) -> Sequence[type[ApiObject]]:
        """The kinds that are followed."""
        return tuple(self._reflectors)

    def start(self, handler: ChangeHandler) -> None:
        """List every kind and start to watch it; if the cluster fails, retry later.

        Kinds that are already followed are not changed.

        Args:
            handler: Gets every change, after the copy has been updated.
        """
        for reflector in self._reflectors.values():
            if not reflector.is_started:
                reflector.start(handler)

    @property
    def has_listed(self) -> bool:
        """Whether every kind has been listed; no pod is scheduled before that."""
        if not self._has_listed:
            listed = (reflector.is_listed for reflector in self._reflectors.values())
            self._has_listed = all(listed)
        return self._has_listed

    def unlisted(self) -> Sequence[type[ApiObject]]:
        """Return the kinds that have never been listed."""
        reflectors = self._reflectors.items()
        return [kind for kind, reflector in reflectors if not reflector.is_listed]

    def sync(self) -> bool:
        """Handle all changes that have arrived; return whether there were any."""
        notified = self._notified
        if not notified:
            return False
        # Remove each before its watch is read: new events may arrive during that.
        first = notified.popleft()
        # The usual case: a bind changes pods only. It needs neither the set nor the
        # loop over all kinds.
        if not notified:
            return first.sync()
        pending = {first}
        while notified:
            pending.add(notified.popleft())
        # In the order of kinds, so that pods come last.
        reflectors = self._reflectors.values()
        synced = [reflector.sync() for reflector in reflectors if reflector in pending]
        return any(synced)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None."""
        reflector = self._reflectors.get(kind)
        if reflector is None:
            raise UnfollowedKindError(kind, self._reflectors)
        return reflector.objects.get(key)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return all objects of a kind, of one namespace if given."""
        objects = self._reflector(kind).objects.values()
        if namespace is None:
            return list(objects)
        return [obj for obj in objects if obj.namespace == namespace]

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of a kind's changes; it is written from the first call on."""
        return self._reflector(kind).changes()

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """See `quaymaster.Informers.index`."""
        return ObjectIndex(self, kind, by)

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """See `quaymaster.Informers.on_change`; the callback must not raise."""
        return self._reflector(kind).on_change(callback)

    def _note_events(self, reflector: _Reflector[Any]) -> None:
        self._notified.append(reflector)
        self._notify()

    def _reflector(self, kind: type[ObjT]) -> _Reflector[ObjT]:
        reflector = self._reflectors.get(kind)
        if reflector is None:
            raise UnfollowedKindError(kind, self._reflectors)
        return reflector
