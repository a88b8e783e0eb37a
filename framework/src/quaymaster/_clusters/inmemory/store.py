"""The objects of one kind, and the log of their changes that watches read."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final, Generic, TypeVar

from quaymaster._api.objects import ApiObject
from quaymaster._core.contract.cluster import (
    ResourceExpiredError,
    WatchEvent,
    WatchEventType,
)

__all__ = ["KindStore", "StoreWatch"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_VERSION: Final = attrgetter("resource_version")

# At most this many events are kept for a slow watch.
_MAX_LAG: Final = 1_000_000


class KindStore(Generic[ObjT]):
    """The objects of one kind, with the log of their changes.

    Args:
        kind: The class of the objects.
        history: How many past changes are kept at least, for watches that resume.

    Attributes:
        kind: The class of the objects.
        objects: The objects by key, in the order of their creation.
    """

    __slots__ = (
        "_dropped",
        "_dropped_version",
        "_history",
        "_idle",
        "_log",
        "_trim_at",
        "_watches",
        "kind",
        "objects",
    )

    def __init__(self, kind: type[ObjT], history: int) -> None:
        self.kind = kind
        self.objects: dict[str, ObjT] = {}
        self._log: list[WatchEvent[ObjT]] = []
        self._dropped = 0
        self._dropped_version = 0
        self._history = history
        self._trim_at = 2 * history
        self._watches: list[StoreWatch[ObjT]] = []
        self._idle: list[StoreWatch[ObjT]] = []

    def put(self, change: WatchEventType, key: str, obj: ObjT, version: int) -> None:
        """Store a new or changed object and log the change."""
        self.objects[key] = obj
        self._log.append(WatchEvent(change, obj, version))
        # Watches that have not read their last events are not in the list: they need no
        # second notification. So most writes call nothing.
        if self._idle or len(self._log) > self._trim_at:
            self._publish()

    def drop(self, key: str, last: ObjT, version: int) -> None:
        """Remove an object; ``last`` is its version in the log."""
        del self.objects[key]
        self._log.append(WatchEvent(WatchEventType.DELETED, last, version))
        if self._idle or len(self._log) > self._trim_at:
            self._publish()

    def watch(self, version: int, notify: Callable[[], None]) -> "StoreWatch[ObjT]":
        """Follow the changes after a version.

        Raises:
            ResourceExpiredError: The log no longer has some of them.
        """
        # A version that is exactly the last one dropped is fine: nothing after it is
        # missing.
        if version < self._dropped_version:
            raise self._expired()
        start = bisect_right(self._log, version, key=_VERSION)
        watch = StoreWatch(self, self._dropped + start, notify)
        self._watches.append(watch)
        # At once: the watch is behind, and no later change would find it idle.
        if start < len(self._log):
            notify()
        else:
            self._idle.append(watch)
        return watch

    def read(self, watch: "StoreWatch[ObjT]") -> Sequence[WatchEvent[ObjT]]:
        """Return the events that a watch has not read yet."""
        start = watch.position - self._dropped
        # A slow watch whose unread events were dropped has to list again, as on a real
        # API server (410 Gone).
        if start < 0:
            raise self._expired()
        events = self._log[start:]
        if events:
            watch.position += len(events)
            self._idle.append(watch)
        return events

    def forget(self, watch: "StoreWatch[ObjT]") -> None:
        """Stop a watch: it is not notified again, and no events are kept for it."""
        # Identity: this watch object, not an equal one.
        self._watches = [other for other in self._watches if other is not watch]
        self._idle = [other for other in self._idle if other is not watch]

    def _publish(self) -> None:
        # Taken before the calls: a watch that reads at once becomes idle again, in the
        # new list.
        idle, self._idle = self._idle, []
        for watch in idle:
            watch.notify()
        if len(self._log) > self._trim_at:
            self._trim()

    def _trim(self) -> None:
        length = len(self._log)
        unread = [watch.position - self._dropped for watch in self._watches]
        # Nothing is dropped that a watch has yet to read, up to `_MAX_LAG`.
        count = min([length - self._history, *unread])
        count = max(count, length - _MAX_LAG)
        if count > 0:
            self._dropped_version = self._log[count - 1].resource_version
            del self._log[:count]
            self._dropped += count
        # Only after `history` more changes: deleting from the front of a list moves all
        # that stays.
        self._trim_at = max(2 * self._history, len(self._log) + self._history)

    def _expired(self) -> ResourceExpiredError:
        return ResourceExpiredError(
            f"{self.kind.kind}: changes up to version {self._dropped_version} are no "
            "longer known: list again"
        )


class StoreWatch(Generic[ObjT]):
    """A reader of a `KindStore`'s log.

    Attributes:
        position: How many events of the log it has read.
        notify: Called once when there are new events, and again only after these were
            read.
    """

    __slots__ = ("_store", "notify", "position")

    def __init__(
        self, store: KindStore[ObjT], position: int, notify: Callable[[], None]
    ) -> None:
        self._store: KindStore[ObjT] | None = store
        self.position = position
        self.notify = notify

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        """Return all changes since the last call; see `quaymaster.cluster.Watch`."""
        return () if self._store is None else self._store.read(self)

    def stop(self) -> None:
        """End the stream."""
        if self._store is not None:
            self._store.forget(self)
            self._store = None
