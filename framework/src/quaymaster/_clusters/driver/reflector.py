"""Follows one resource: lists it, watches it, and lists it again if necessary.

Mirrors ``Reflector`` (k8s.io/client-go v0.36, ``tools/cache/reflector.go``), with two
differences. A list is always current, so the engine never receives an older version
after a newer one. A broken watch continues from the last version.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Final, Protocol

import msgspec

from quaymaster._base.block_lines import BlockLines
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.driver.backoff import Backoff
from quaymaster._clusters.driver.frames import Message, Trouble
from quaymaster._clusters.driver.list_messages import (
    BOOKMARKS,
    EVENTS,
    OBJECTS,
    PAGES,
    STATUSES,
    Event,
    EventStatus,
)
from quaymaster._clusters.driver.sent_versions import (
    Packer,
    SentVersions,
    StaleListError,
    Versioned,
)
from quaymaster._clusters.driver.stalls import StreamProgress
from quaymaster._clusters.kubernetes.errors import ApiError

__all__ = ["SECONDS_OF_SILENCE", "Reader", "Reflector"]

SECONDS_OF_SILENCE: Final = 150.0
"""A watch that is silent for so long is dead, because bookmarks come every minute."""

# As ``defaultPageSize`` of client-go's pager.
_PAGE: Final = 500  # objects
# As ``defaultMinWatchTimeout`` of client-go: not all watches end at once.
_SHORTEST_WATCH: Final = 300  # seconds; the longest is twice as long
# client-go delays after a "very short watch", too: otherwise a server that ends each
# watch would get requests in a loop.
_TOO_SHORT: Final = 1.0  # seconds that a watch without events lasts at least
_LONG_ENOUGH: Final = 10.0  # seconds that a stream lasts if the server works
_LONGEST_EVENT: Final = 1 << 25  # bytes; etcd stores objects of up to 1.5 MiB
_SECONDS_TO_END: Final = 60  # that a server may need to end a watch
_END_OF_LIST: Final = "k8s.io/initial-events-end"

_NOT_FOUND: Final = 404
_GONE: Final = 410
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_REFUSALS_OF_LISTS: Final = (400, 405, 422)
"""The status codes with which servers refuse watches that begin with a list."""


class Reader(Protocol):
    """Reads an API server; see `ApiClient`."""

    def get(self, path: str, query: Mapping[str, str | int]) -> bytes:
        """Read one resource."""

    def stream(
        self, path: str, query: Mapping[str, str | int]
    ) -> AbstractContextManager[Iterator[bytes]]:
        """Stream the response of one resource."""


class _EventError(ApiError):
    """The stream contains an error event."""

    def __init__(self, path: str, status: EventStatus) -> None:
        message = f"the watch ended: {status.message or status.reason}"
        super().__init__(path, message, code=status.code, reason=status.reason)
        self.seconds = status.details.seconds if status.details else None


class Reflector:
    """Follows one resource.

    Args:
        reader: Reads the server; only this reflector uses it.
        resource: The number of the resource in messages.
        path: The resource's path.
        packed: Packs a change.
        send: Sends a message to the engine.
        wait: Waits for some seconds.
        wait_for_server: Waits for some seconds, or until the server works again.
        now: Returns the seconds of a monotonic clock.
        uniform: Returns a random number between two.
    """

    def __init__(
        self,
        reader: Reader,
        resource: int,
        path: str,
        packed: Packer,
        send: Callable[[Message], None],
        *,
        wait: Callable[[float], None] = time.sleep,
        wait_for_server: Callable[[float], None] | None = None,
        now: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._reader = reader
        self._resource = resource
        self._path = path
        self._send = send
        self._wait = wait
        self._wait_for_server = wait_for_server or wait
        self._now = now
        self._uniform = uniform
        self._sent = SentVersions(resource, packed, send)
        self._backoff = Backoff(now, uniform)
        self._must_list = True
        self._offers_lists_by_watch = True
        self._has_broken_list = False
        self._progress = StreamProgress(now)
        self._trouble = ""
        self._is_stalled = False  # the trouble is a stalled stream
        self._trouble_lock = threading.Lock()
        # Whether a watch has received any event since the last list.
        self._has_moved = True

    @property
    def version(self) -> str:
        """The resource version up to which the engine has received all changes."""
        return self._sent.latest

    def resume(self, versions: Mapping[str, str], latest: str) -> None:
        """Watch from a version whose objects were sent; see `SentVersions.resume`.

        If that version has expired, the differences from the current list are sent.
        """
        self._sent.resume(versions, latest)
        self._must_list = not latest

    def run(self) -> None:
        """Follow it, until the engine is gone.

        Raises:
            OSError: The engine is gone.
        """
        while True:
            self.step()

    def step(self) -> None:
        """List if necessary, and watch until the stream ends; wait after a failure.

        Raises:
            OSError: The engine is gone.
        """
        try:
            if not self._must_list:
                self._watch()
            elif self._offers_lists_by_watch and not self._has_broken_list:
                self._list_by_watch()
            else:
                self._list_by_pages()
        except StaleListError:
            self._failed("the list is older than the objects that were received before")
        except ApiError as error:
            self._take_error(error)
        except QuaymasterError as error:
            self._failed(str(error))
        except (msgspec.DecodeError, RecursionError) as error:
            self._must_list = True
            self._failed(f"{self._path}: the server sent invalid data: {error}")

    def check(self) -> None:
        """Report a stream that stalls or continues; any thread may call it.

        It must be called every few seconds, because the reading thread may be blocked.
        """
        with self._trouble_lock:
            problem = self._progress.problem()
            if problem or self._is_stalled:
                self._set_trouble(problem)
                self._is_stalled = bool(problem)

    # Lists --------------------------------------------------------------------------

    def _list_by_watch(self) -> None:
        """Start a watch that begins with all objects, and continue it."""
        self._sent.begin()
        query: dict[str, str | int] = {
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
        }
        try:
            self._read_stream(query)
        except ApiError as error:
            if not self._must_list or error.code == _TOO_MANY:
                raise
            if not error.code:
                # A server without WatchList may never end such a list.
                self._has_broken_list = True
                raise
            # As in client-go: a plain list may work, whatever the reason.
            self._offers_lists_by_watch = error.code not in _REFUSALS_OF_LISTS
            self._list_by_pages()

    def _list_by_pages(self) -> None:
        try:
            self._list_pages({"limit": _PAGE})
        except ApiError as error:
            if error.code != _GONE:
                raise
            # The continue token has expired.
            self._list_pages({})

    def _list_pages(self, query: dict[str, str | int]) -> None:
        self._sent.begin()
        while True:
            page = PAGES.decode(self._reader.get(self._path, query))
            for item in page.items or ():
                meta = _metadata(item)
                if meta is None:
                    self._sent.unnamed(item)
                else:
                    self._sent.listed(meta, item)
            if not page.metadata.further:
                break
            query["continue"] = page.metadata.further
        self._listed(page.metadata.resource_version)

    def _listed(self, version: str) -> None:
        self._sent.finish(version)
        self._must_list = self._has_broken_list = False
        self._progress.listed()
        self._recovered()

    # Watches ------------------------------------------------------------------------

    def _watch(self) -> None:
        begun = self._now()
        has_events = self._read_stream({"resourceVersion": self._sent.latest})
        if not has_events and self._now() - begun < _TOO_SHORT:
            self._wait(self._backoff.next())

    def _read_stream(self, query: dict[str, str | int]) -> bool:
        """Read a stream to its end; return whether there were any events."""
        is_list, has_events = self._must_list, False
        seconds = int(self._uniform(_SHORTEST_WATCH, 2 * _SHORTEST_WATCH))
        whole = {
            "watch": 1,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": seconds,
            **query,
        }
        with self._reader.stream(self._path, whole) as blocks:
            if not is_list:
                self._recovered()
            self._progress.begin(is_list=is_list)
            try:
                has_events = self._take_blocks(blocks, seconds)
            finally:
                self._progress.end()
        if self._must_list:
            raise ApiError(self._path, "the stream ended before its list was complete")
        return has_events

    def _take_blocks(self, blocks: Iterator[bytes], seconds: int) -> bool:
        """Handle the events of a stream; return whether there were any.

        An incomplete last line is discarded; the next stream contains it again.
        """
        begun, has_events, lines = self._now(), False, BlockLines()
        for block in blocks:
            events = lines.take(block)
            for event in events:
                self._take_line(event)
            self._sent.flush()
            now, has_event = self._now(), bool(events)
            self._check_stream(lines.rest, now - begun - seconds)
            self._progress.received(now, has_event=has_event, has_rest=bool(lines.rest))
            if self._is_stalled:
                self.check()
            has_events = has_events or has_event
            # Delays start again after two quiet minutes, too, but a server that fails
            # now and then is rarely quiet for so long.
            if now - begun > _LONG_ENOUGH:
                self._backoff.reset()
        return has_events

    def _check_stream(self, rest: int, seconds: float) -> None:
        """Raise an error if an event or the stream should have ended long ago.

        Args:
            rest: The bytes of the incomplete event.
            seconds: How long ago the server should have ended the stream.
        """
        if rest > _LONGEST_EVENT:
            self._must_list = True  # this event would come again, but not with a list
            problem = f"an event exceeds {_LONGEST_EVENT >> 20} MiB"
            raise ApiError(self._path, problem)
        if seconds > _SECONDS_TO_END:
            raise ApiError(self._path, "the server did not end the watch in time")

    def _take_line(self, line: bytes) -> None:
        event = EVENTS.decode(line)
        if event.type == "ERROR":
            # What came before the error counts.
            self._sent.flush()
            raise _EventError(self._path, STATUSES.decode(event.object))
        if event.type not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
            raise msgspec.DecodeError(f"an event of type {event.type!r}")
        meta = _metadata(event.object)
        if meta is None:
            self._sent.unnamed(event.object)
        elif self._must_list:
            self._take_listed(event, meta)
        else:
            self._has_moved = True
            self._take_change(event, meta)

    def _take_listed(self, event: Event, meta: Versioned) -> None:
        if event.type == "DELETED":
            self._sent.unlisted(meta, event.object)
        elif event.type != "BOOKMARK":
            self._sent.listed(meta, event.object)
        elif _ends_list(event):
            self._listed(meta.resource_version)

    def _take_change(self, event: Event, meta: Versioned) -> None:
        if event.type == "BOOKMARK":
            self._sent.reached(meta.resource_version)
        else:
            self._sent.changed(event.type, meta, event.object)

    # Failures -----------------------------------------------------------------------

    def _take_error(self, error: ApiError) -> None:
        if error.code == _NOT_FOUND:
            self._absent(error)
            return
        is_in_stream = isinstance(error, _EventError)
        seconds = error.seconds if isinstance(error, _EventError) else None
        if error.code != _TOO_MANY and (is_in_stream or 0 < error.code < _SERVER_ERROR):
            has_expired = error.code == _GONE and not self._must_list
            self._must_list = True
            if has_expired and self._has_moved:
                self._has_moved = False
                return  # versions expire: a failure only if it happens again at once
        self._failed(str(error), seconds, error.code)

    def _absent(self, error: ApiError) -> None:
        """Treat a kind that the server does not have as a kind without objects."""
        self._sent.begin()
        self._sent.finish("")
        self._must_list = True
        self._failed(str(error), None, error.code)

    def _failed(self, why: str, seconds: float | None = None, code: int = 0) -> None:
        """Report the error, if it is new, and wait."""
        with self._trouble_lock:
            self._set_trouble(why, code)
            self._is_stalled = False
        is_away = not code or code >= _SERVER_ERROR
        wait = self._wait_for_server if is_away and seconds is None else self._wait
        wait(max(self._backoff.next(), seconds or 0.0))

    def _recovered(self) -> None:
        if self._trouble:
            with self._trouble_lock:
                self._set_trouble("")
                self._is_stalled = False

    def _set_trouble(self, why: str, code: int = 0) -> None:
        if why != self._trouble:
            self._trouble = why
            self._send(Trouble(self._resource, why, code))


def _metadata(text: msgspec.Raw) -> Versioned | None:
    """Return the name and version of an object; None if they are invalid."""
    try:
        meta = OBJECTS.decode(text).metadata
    except msgspec.ValidationError:
        return None
    return meta


def _ends_list(bookmark: Event) -> bool:
    annotations = BOOKMARKS.decode(bookmark.object).metadata.annotations
    return annotations.get(_END_OF_LIST) == "true"
