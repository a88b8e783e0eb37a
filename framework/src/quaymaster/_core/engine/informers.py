"""The engine's copy of the cluster: list once, then follow the watches.

Watches are read in batches on the engine's thread. A watch that expired is replaced by
a fresh list, and what was missed is told as the changes that it amounts to. Mirrors
``Reflector`` and shared informers (k8s.io/client-go v0.36, ``tools/cache``).
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
from quaymaster._core.contract.handle import UnfollowedKindError
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.state.change_log import ChangeLog

__all__ = ["ChangeHandler", "EngineInformers"]

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)

# A lookup in the enumeration costs a call for each event.
_DELETED: Final = WatchEventType.DELETED

_log = logging.getLogger(__name__)


class ChangeHandler(Protocol):
    """Takes every change of the cluster, one by one, on the engine's thread."""

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Called when an object was added (no old), changed, or deleted (no new).

        Args:
            kind: The class of the object.
            old: The object as it was last known, or None.
            new: The object as it is now, or None.
            missed: Whether the deletion itself was missed, and ``old`` may be stale.
        """


class _Reflector(Generic[ObjT]):
    """Follows one kind.

    Attributes:
        objects: Key -> object, as the handler knows them.
        is_listed: Whether they have ever been listed.
    """

    def __init__(
        self,
        kind: type[ObjT],
        cluster: Cluster,
        tell_news: Callable[["_Reflector[Any]"], None],
        retry_later: Callable[[Callable[[], None]], object],
    ) -> None:
        self._kind = kind
        self._is_namespaced = kind.namespaced
        self._cluster = cluster
        self._handler: ChangeHandler | None = None
        self._tell_news = partial(tell_news, self)
        self._retry_later = retry_later
        self._watch: Watch[ObjT] | None = None
        self._version = 0
        self._must_list = True
        self._is_resting = False
        self._trouble = ""
        self.is_listed = False
        self.objects: dict[str, ObjT] = {}
        self._log: ChangeLog[str] | None = None

    def changes(self) -> ChangeLog[str]:
        """Return the log of the changes, which is kept from the first call on."""
        if self._log is None:
            self._log = ChangeLog()
        return self._log

    @property
    def is_started(self) -> bool:
        """Whether it has begun to follow its kind."""
        return self._handler is not None

    def start(self, handler: ChangeHandler) -> None:
        """List and watch, and tell this handler from now on what there is."""
        self._handler = handler
        self.recover()

    def list(self) -> None:
        """List, tell the handler what there is, and watch from there."""
        listed = self._cluster.list(self._kind)
        if listed.resource_version < self._version:
            # From a replica that lags: it would take back what has been told.
            raise ApiError(f"{self._kind.kind}: the list is older than what is known")
        # All of it is there before the first is told: who hears of one looks up others.
        known, self.objects = self.objects, {obj.key: obj for obj in listed.items}
        for key, obj in self.objects.items():
            old = known.pop(key, None)
            if old is None:
                self._tell(key, None, obj)
            elif old.uid != obj.uid:
                self._tell(key, old, None, missed=True)
                self._tell(key, None, obj)
            elif old.metadata.resource_version != obj.metadata.resource_version:
                self._tell(key, old, obj)
        for key, gone in known.items():
            self._tell(key, gone, None, missed=True)
        self._version = listed.resource_version
        self._must_list = False
        self.is_listed = True
        self._connect()

    def sync(self) -> bool:
        """Handle what the watch has brought; return whether there was anything."""
        if self._is_resting:
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
        """Watch again, after a fresh list if need be; if that fails, retry later."""
        try:
            if not self._must_list:
                try:
                    self._connect()
                    return
                except ResourceExpiredError:
                    self._must_list = True
            self.list()
        except ListPendingError as pending:
            self._is_resting = True
            pending.ask_again(self._end_rest)
        except ApiError as error:
            self._rest(str(error))

    def _rest(self, why: str) -> None:
        if why != self._trouble:  # it may be tried every second for a long time
            self._trouble = why
            _log.warning("%s cannot be followed: %s", self._kind.kind, why)
        self._is_resting = True
        self._retry_later(self._end_rest)

    def _end_rest(self) -> None:
        self._is_resting = False
        self._tell_news()

    def _connect(self) -> None:
        self._watch = self._cluster.watch(self._kind, self._version, self._tell_news)
        self._trouble = ""

    def _apply(self, event: WatchEvent[ObjT]) -> None:
        if event.resource_version <= self._version:
            return  # told already: again, it could bring back what is gone
        new = event.object
        # As `ApiObject.key`, without the call: there are two events for each pod.
        name, key = new.metadata, new.metadata.name
        if self._is_namespaced:
            key = f"{name.namespace}/{key}"
        self._version = event.resource_version
        if event.type is _DELETED:
            known = self.objects.pop(key, None)
            if known is not None:
                last = known if event.is_missed else new
                self._tell(key, last, None, missed=event.is_missed)
            return
        objects = self.objects
        old = objects.get(key)
        objects[key] = new
        if old is not None and old.metadata.uid != new.metadata.uid:
            self._tell(key, old, None, missed=True)
            old = None
        self._tell(key, old, new)

    def _tell(
        self, key: str, old: ObjT | None, new: ObjT | None, *, missed: bool = False
    ) -> None:
        """Note a change in the log, if there is one, and pass it on."""
        if self._log is not None:
            self._log.note(key, is_new=old is None)
        assert self._handler is not None, "it was started"
        self._handler.changed(self._kind, old, new, missed=missed)


class EngineInformers:
    """The copies of all kinds that are followed; implements `quaymaster.Informers`.

    Args:
        cluster: The cluster to follow.
        notify: Called, from any thread, when there is something to `sync`.
        retry_later: Calls what it is given after a while, on the engine's thread: a
            kind that cannot be followed right now is tried again then.
        kinds: What to follow beside nodes and pods.
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
        # Whose watches may have brought something; filled from any thread.
        self._news: deque[_Reflector[Any]] = deque()
        self._reflectors: dict[type[ApiObject], _Reflector[Any]] = {}
        self._has_listed = False
        self.follow((*kinds, Node, Pod))

    def follow(self, kinds: Iterable[type[ApiObject]]) -> Sequence[type[ApiObject]]:
        """Follow more kinds, from the next `start` on.

        Returns:
            Those that are new.

        Raises:
            KindError: One is of the same kind as another class that is followed.
        """
        kinds = KindSet((*self._reflectors, *kinds))
        new = [kind for kind in kinds if kind not in self._reflectors]
        for kind in new:
            self._reflectors[kind] = _Reflector(
                kind, self._cluster, self._tell_news, self._retry_later
            )
        # The pods come last: what they refer to is known by then.
        for kind in (Node, Pod) if new else ():
            self._reflectors[kind] = self._reflectors.pop(kind)
        self._has_listed = self._has_listed and not new
        return new

    def forget(self, kinds: Iterable[type[ApiObject]]) -> None:
        """Take back what `follow` has begun, before `start`."""
        for kind in kinds:
            del self._reflectors[kind]

    @property
    def kinds(self) -> Sequence[type[ApiObject]]:
        """The kinds that are followed."""
        return tuple(self._reflectors)

    def start(self, handler: ChangeHandler) -> None:
        """List every kind and start to watch it; later, if the cluster fails now.

        Kinds that are followed already go on as they are.

        Args:
            handler: Told every change, after the copy has been brought up to date.
        """
        for reflector in self._reflectors.values():
            if not reflector.is_started:
                reflector.start(handler)

    @property
    def has_listed(self) -> bool:
        """Whether every kind has been listed: before that, too little is known."""
        if not self._has_listed:
            listed = (reflector.is_listed for reflector in self._reflectors.values())
            self._has_listed = all(listed)
        return self._has_listed

    def unlisted(self) -> Sequence[type[ApiObject]]:
        """Return the kinds that have never been listed."""
        return [kind for kind, one in self._reflectors.items() if not one.is_listed]

    def sync(self) -> bool:
        """Handle all changes that have arrived; return whether there were any."""
        news = self._news
        if not news:
            return False
        # Each is out before its watch is read: more may come meanwhile.
        first = news.popleft()
        if not news:
            return first.sync()
        told = {first}
        while news:
            told.add(news.popleft())
        synced = [one.sync() for one in self._reflectors.values() if one in told]
        return any(synced)

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None."""
        return self._reflector(kind).objects.get(key)

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return all objects of a kind, of one namespace if given."""
        objects = self._reflector(kind).objects.values()
        if namespace is None:
            return list(objects)
        return [obj for obj in objects if obj.namespace == namespace]

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return what came, changed and went of a kind; kept from the first call on."""
        return self._reflector(kind).changes()

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """See `quaymaster.Informers.index`."""
        return ObjectIndex(self, kind, by)

    def _tell_news(self, reflector: _Reflector[Any]) -> None:
        self._news.append(reflector)
        self._notify()

    def _reflector(self, kind: type[ObjT]) -> _Reflector[ObjT]:
        reflector = self._reflectors.get(kind)
        if reflector is None:
            raise UnfollowedKindError(kind, self._reflectors)
        return reflector
