"""What the engine has been told of one resource, and has not yet looked at."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import msgspec

from quaymaster._contract.cluster import (
    ApiError,
    ListResult,
    ResourceExpiredError,
    WatchEvent,
    WatchEventType,
)
from quaymaster._driver.frames import (
    Changed,
    Current,
    Listing,
    Message,
    Objects,
    Trouble,
)
from quaymaster._errors import ObjectError
from quaymaster._objects import ApiObject
from quaymaster._objects.pool import SpecPool
from quaymaster._objects.wire import decode

__all__ = ["Followed"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SECONDS_TO_LIST: Final = 60.0  # without any news of the list
_MOST_AT_ONCE: Final = 500  # changes to read before the engine goes on

_log = logging.getLogger(__name__)


class _Change(msgspec.Struct):
    type: str
    object: msgspec.Raw


_CHANGES: Final = msgspec.json.Decoder(_Change)


class Followed(Generic[ObjT]):
    """One resource as the other process tells of it.

    Versions are places in that telling: the server's own are not compared here.

    Args:
        kind: The class of its objects.
    """

    def __init__(self, kind: type[ObjT]) -> None:
        self._kind = kind
        self._told: deque[Message] = deque()
        self._news = threading.Condition()
        self._place = 0
        self._notify: Callable[[], None] | None = None
        self._pool = SpecPool()
        self._listed: list[ObjT] | None = None
        self._lines: deque[bytes] = deque()

    def receive(self, message: Message) -> None:
        """Take a message; on any thread."""
        with self._news:
            self._told.append(message)
            self._news.notify()
        if self._notify is not None:
            self._notify()

    def listed(self) -> ListResult[ObjT]:
        """Return all objects, once all have been told.

        Raises:
            ApiError: They cannot be listed right now.
        """
        while True:
            message = self._next()
            if isinstance(message, Current):
                objects, self._listed = self._listed or [], None
                return ListResult(objects, self._place)
            if isinstance(message, Trouble):
                raise ApiError(message.why)
            self._gather(message)

    def watch(self, notify: Callable[[], None]) -> "Followed[ObjT]":
        """Follow what comes after the list."""
        self._notify = notify
        if self._told or self._lines:
            notify()
        return self

    def take(self) -> Sequence[WatchEvent[ObjT]]:
        """See `Watch.take`."""
        events: list[WatchEvent[ObjT]] = []
        while len(events) < _MOST_AT_ONCE:
            if self._lines:
                self._read(self._lines.popleft(), events)
            elif self._listed is not None and not self._is_listed():
                return events
            elif self._listed is not None:
                if events:
                    break  # they come first
                raise ResourceExpiredError(f"{self._kind.kind}: listed anew")
            elif self._told:
                self._gather(self._told.popleft())
            else:
                return events
        if self._notify is not None:
            self._notify()  # there is more
        return events

    def stop(self) -> None:
        """See `Watch.stop`."""
        self._notify = None

    def _is_listed(self) -> bool:
        """Gather what has been told of a list; whether all of it has been."""
        while self._told:
            if isinstance(self._told[0], Current):
                return True
            self._gather(self._told.popleft())
        return False

    def _gather(self, message: Message) -> None:
        if isinstance(message, Listing):
            self._listed = []
        elif isinstance(message, Objects):
            assert self._listed is not None, "a list was begun"
            self._listed += filter(None, map(self._decoded, message.texts))
        elif isinstance(message, Changed):
            self._lines += message.lines
        elif isinstance(message, Trouble):
            _log.warning("%s: %s", self._kind.kind, message.why)

    def _next(self) -> Message:
        with self._news:
            while not self._told:
                if not self._news.wait(_SECONDS_TO_LIST):
                    raise ApiError(f"{self._kind.kind}: no list has come")
            return self._told.popleft()

    def _read(self, line: bytes, events: list[WatchEvent[ObjT]]) -> None:
        change = _CHANGES.decode(line)
        self._place += 1
        obj = self._decoded(change.object)
        if obj is not None:
            events.append(WatchEvent(WatchEventType(change.type), obj, self._place))

    def _decoded(self, text: bytes | msgspec.Raw) -> ObjT | None:
        try:
            return decode(text, self._kind, pool=self._pool)
        except ObjectError as error:
            _log.error("%s cannot be read: %s", self._kind.kind, error)
            return None
