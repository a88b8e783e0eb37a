"""Queues the messages about one resource until the engine reads them."""

import gc
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

import msgspec

from quaymaster._api.objects import ApiObject, ObjectMeta, Pod
from quaymaster._base.errors import ObjectError
from quaymaster._clusters.driver.frames import Changed, Current, Listing, Spec, Trouble
from quaymaster._clusters.driver.packing import Change, Gone, Text, Unpacker
from quaymaster._clusters.driver.sent_versions import Versioned
from quaymaster._clusters.kubernetes.resources import Resource, resource_of
from quaymaster._core.contract.cluster import (
    ApiError,
    ListPendingError,
    ListResult,
    WatchEvent,
    WatchEventType,
)

__all__ = ["Followed"]

ObjT = TypeVar("ObjT", bound=ApiObject)
ResourceMessage: TypeAlias = Listing | Changed | Current | Spec | Trouble

_NOT_FOUND: Final = 404
_TYPES: Final = {event_type.value: event_type for event_type in WatchEventType}

_log = logging.getLogger(__name__)


class Followed(Generic[ObjT]):
    """One resource, as the I/O process reports it.

    Versions are positions in the sequence of changes; the server's versions are not
    compared here.

    Args:
        kind: The class of its objects.
        seconds: For how long to read a list before the engine continues.

    Attributes:
        resource: The resource.
        trouble: Why it cannot be followed right now; empty if it can.
        is_absent: Whether the server does not have the kind; it has no objects then.
        is_listed: Whether the whole list has been received.
    """

    def __init__(self, kind: type[ObjT], seconds: float = 0.05) -> None:
        self.resource: Resource = resource_of(kind)
        self.trouble = ""
        self.is_absent = False
        self.is_listed = False
        self._kind = kind
        self._seconds = seconds
        self._messages: deque[ResourceMessage] = deque()
        self._place = 0
        self._notify: Callable[[], None] | None = None
        self._unpacker = Unpacker(kind)
        self._listed: dict[str, ObjT] = {}
        self._unreadable: set[str] = set()

    @property
    def path(self) -> str:
        """The path of its objects."""
        return self.resource.path()

    @property
    def unreadable(self) -> int:
        """How many objects cannot be decoded in their latest version."""
        return len(self._unreadable)

    def receive(self, message: ResourceMessage) -> None:
        """Queue a message; any thread may call it."""
        self._messages.append(message)
        notify = self._notify
        if notify is not None:
            notify()

    def listed(self) -> ListResult[ObjT]:
        """Return all objects once the whole list has been received.

        Raises:
            ListPendingError: It has not been received yet.
            ApiError: They cannot be listed right now.
        """
        until = time.perf_counter() + self._seconds
        while not self.is_listed:
            if not self._messages and self.trouble:
                raise ApiError(self.trouble)
            if not self._messages or time.perf_counter() >= until:
                raise ListPendingError(self._ask_again)
            message = self._messages.popleft()
            if isinstance(message, Listing):
                self._listed = {}
            elif isinstance(message, Changed):
                self._gather(message)
            else:
                self._take(message)
            if isinstance(message, Trouble) and message.why and not self.is_listed:
                raise ApiError(message.why)
        objects, self._listed = list(self._listed.values()), {}
        # The objects live long: frozen, they are skipped by the garbage collector.
        gc.freeze()
        return ListResult(objects, self._place)

    def watch(self, notify: Callable[[], None]) -> "Followed[ObjT]":
        """Report the changes after the list."""
        self._notify = notify
        if self._messages:
            notify()
        return self

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        """Return the changes of one message; see `Watch.take`.

        A message has 32 changes at most, so the engine soon continues.
        """
        events: Sequence[WatchEvent[ObjT]] = ()
        while self._messages and not events:
            message = self._messages.popleft()
            if isinstance(message, Changed):
                events = self._events(message)
            else:
                self._take(message)
        if self._messages and self._notify is not None:
            self._notify()  # there is more
        return events

    def stop(self) -> None:
        """See `Watch.stop`."""
        self._notify = None

    def _take(self, message: ResourceMessage) -> None:
        if isinstance(message, Spec):
            self._unpacker.add_spec(message.number, message.text)
        elif isinstance(message, Current):
            self.is_listed = True
        elif isinstance(message, Trouble):
            self._note(message)

    def _note(self, trouble: Trouble) -> None:
        self.is_absent = trouble.code == _NOT_FOUND
        self.trouble = "" if self.is_absent else trouble.why
        name = self.resource.full_name
        if self.is_absent:
            _log.warning(
                "the server does not have the kind %s (%s): it counts as having no "
                "objects until it is installed",
                self.resource.kind,
                self.resource.api_version,
            )
        elif trouble.why:
            if self.is_listed:  # else `listed` raises it, and its caller logs it
                _log.warning("%s cannot be followed: %s", name, trouble.why)
        else:
            _log.info("%s can be followed again", name)

    def _ask_again(self, call: Callable[[], None]) -> None:
        """Call the function once a message has arrived, or at once if one waits."""
        self._notify = call
        if self._messages:
            call()

    def _gather(self, message: Changed) -> None:
        for event in self._events(message):
            key = event.object.key
            if event.type is WatchEventType.DELETED:
                self._listed.pop(key, None)
            else:
                self._listed[key] = event.object

    def _events(self, message: Changed) -> Sequence[WatchEvent[ObjT]]:
        return [
            event
            for change in self._unpacker.changes(message.changes)
            if (event := self._event(change)) is not None
        ]

    def _event(self, change: Change) -> WatchEvent[ObjT] | None:
        self._place += 1
        if isinstance(change, Gone):
            self._unreadable.discard(change.key)
            return self._gone(change.key)
        try:
            obj = self._unpacker.object_of(change)
        except (ObjectError, msgspec.DecodeError) as error:
            assert isinstance(change, Text), "packed pods can be decoded"
            return self._unread(change, error)
        if self._unreadable:
            self._unreadable.discard(obj.key)
        return WatchEvent(_TYPES[change.type], obj, self._place)

    def _gone(self, key: str) -> WatchEvent[ObjT]:
        namespace, _, name = key.rpartition("/")
        stub = self._kind(metadata=ObjectMeta(name=name, namespace=namespace))
        return WatchEvent(WatchEventType.DELETED, stub, self._place, is_missed=True)

    def _unread(self, change: Text, error: Exception) -> WatchEvent[ObjT] | None:
        """Log an unreadable object once; return a deletion for a pending pod.

        The last readable version of other objects stays in the cache. That is better
        than to treat a pod on a node, or a node, as deleted.
        """
        meta, has_node = _named(change.json)
        if change.type == WatchEventType.DELETED.value:
            self._unreadable.discard(meta.key)
            return self._gone(meta.key)
        if meta.key not in self._unreadable:
            self._unreadable.add(meta.key)
            name = f"{self.resource.full_name} {meta.key or 'without a name'}"
            _log.error("%s cannot be read and is skipped: %s", name, error)
        is_pending = self._kind.kind == Pod.kind and not has_node
        return self._gone(meta.key) if is_pending else None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Named(msgspec.Struct):
    metadata: Versioned = msgspec.field(default_factory=Versioned)
    spec: _Spec = msgspec.field(default_factory=_Spec)


def _named(text: bytes) -> tuple[Versioned, bool]:
    """Return the name and version of an object, and whether it has a node."""
    try:
        named = msgspec.json.decode(text, type=_Named)
    except msgspec.DecodeError:
        return Versioned(), False
    return named.metadata, bool(named.spec.node_name)
