"""What the engine has been told of one resource, and has not yet looked at."""

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
from quaymaster._clusters.driver.told import Versioned
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
Told: TypeAlias = Listing | Changed | Current | Spec | Trouble

_NOT_FOUND: Final = 404
_TYPES: Final = {one.value: one for one in WatchEventType}

_log = logging.getLogger(__name__)


class Followed(Generic[ObjT]):
    """One resource as the other process tells of it.

    Versions are places in that telling: the server's own are not compared here.

    Args:
        kind: The class of its objects.
        seconds: For how long parts of a list are read before the engine goes on.

    Attributes:
        resource: The resource.
        trouble: Why it cannot be followed right now; empty if it can.
        is_absent: Whether the server has no such kind, so that there is none of it.
        is_listed: Whether all of it has been told.
    """

    def __init__(self, kind: type[ObjT], seconds: float = 0.05) -> None:
        self.resource: Resource = resource_of(kind)
        self.trouble = ""
        self.is_absent = False
        self.is_listed = False
        self._kind = kind
        self._seconds = seconds
        self._told: deque[Told] = deque()
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
        """How many objects cannot be read, as they are now."""
        return len(self._unreadable)

    def receive(self, message: Told) -> None:
        """Take a message; on any thread."""
        self._told.append(message)
        notify = self._notify
        if notify is not None:
            notify()

    def listed(self) -> ListResult[ObjT]:
        """Return all objects, once all have been told.

        Raises:
            ListPendingError: They have not been.
            ApiError: They cannot be listed right now.
        """
        until = time.perf_counter() + self._seconds
        while not self.is_listed:
            if not self._told and self.trouble:
                raise ApiError(self.trouble)
            if not self._told or time.perf_counter() >= until:
                raise ListPendingError(self._ask_again)
            message = self._told.popleft()
            if isinstance(message, Listing):
                self._listed = {}
            elif isinstance(message, Changed):
                self._gather(message)
            else:
                self._take(message)
            if isinstance(message, Trouble) and message.why and not self.is_listed:
                raise ApiError(message.why)
        objects, self._listed = list(self._listed.values()), {}
        # They live long: the collector need not look at them again and again.
        gc.freeze()
        return ListResult(objects, self._place)

    def watch(self, notify: Callable[[], None]) -> "Followed[ObjT]":
        """Follow what comes after the list."""
        self._notify = notify
        if self._told:
            notify()
        return self

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        """Return a few changes, so that the engine soon goes on; see `Watch.take`."""
        events: Sequence[WatchEvent[ObjT]] = ()
        while self._told and not events:
            message = self._told.popleft()
            if isinstance(message, Changed):
                events = self._events(message)
            else:
                self._take(message)
        if self._told and self._notify is not None:
            self._notify()  # there is more
        return events

    def stop(self) -> None:
        """See `Watch.stop`."""
        self._notify = None

    def _take(self, message: Told) -> None:
        if isinstance(message, Spec):
            self._unpacker.learn_spec(message.number, message.text)
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
                "the server has no kind %s (%s): there is none of it until it is "
                "installed",
                self.resource.kind,
                self.resource.api_version,
            )
        elif trouble.why:
            _log.warning("%s cannot be followed: %s", name, trouble.why)
        else:
            _log.info("%s can be followed again", name)

    def _ask_again(self, call: Callable[[], None]) -> None:
        """Have a call made once something has been told, if that is not so already."""
        self._notify = call
        if self._told:
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
            assert isinstance(change, Text), "what was packed can be read"
            return self._unread(change, error)
        if self._unreadable:
            self._unreadable.discard(obj.key)
        return WatchEvent(_TYPES[change.type], obj, self._place)

    def _gone(self, key: str) -> WatchEvent[ObjT]:
        namespace, _, name = key.rpartition("/")
        stub = self._kind(metadata=ObjectMeta(name=name, namespace=namespace))
        return WatchEvent(WatchEventType.DELETED, stub, self._place, is_missed=True)

    def _unread(self, change: Text, error: Exception) -> WatchEvent[ObjT] | None:
        """Name an object that cannot be read, once; return what is made of it.

        It is left out; but what is known of a pod on a node, or of anything that is no
        pod, stays as it was: better than to count as gone what is there.
        """
        meta, has_node = _named(change.json)
        if change.type == WatchEventType.DELETED.value:
            self._unreadable.discard(meta.key)
            return self._gone(meta.key)
        if meta.key not in self._unreadable:
            self._unreadable.add(meta.key)
            name = f"{self.resource.full_name} {meta.key or 'without a name'}"
            _log.error("%s cannot be read, and is left out: %s", name, error)
        is_pending = self._kind.kind == Pod.kind and not has_node
        return self._gone(meta.key) if is_pending else None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Named(msgspec.Struct):
    metadata: Versioned = msgspec.field(default_factory=Versioned)
    spec: _Spec = msgspec.field(default_factory=_Spec)


def _named(text: bytes) -> tuple[Versioned, bool]:
    """What an object is called, and whether it has a node."""
    try:
        named = msgspec.json.decode(text, type=_Named)
    except msgspec.DecodeError:
        return Versioned(), False
    return named.metadata, bool(named.spec.node_name)
