"""Writes Events, and merges repeated ones into a series.

Mirrors ``eventBroadcasterImpl`` (k8s.io/client-go v0.36,
``tools/events/event_broadcaster.go``): the first event of a key is created, the second
makes it a series. Further ones are counted here. The count is written every half an
hour, and when no event has come for six minutes.
"""

import functools
import socket
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Final, Literal, Self

import attrs
import msgspec

from quaymaster._clusters.driver.frames import Lane, Note, Reference, Request, Response

__all__ = ["Events"]

# ``finishTime`` and ``refreshTime`` of client-go (tools/events).
_SECONDS_TO_FINISH: Final = 360.0
_SECONDS_TO_REFRESH: Final = 1800.0
_SECONDS_TO_LOOK: Final = 30.0
_MOST: Final = 20_000  # keys that are kept; upstream keeps any number
# A burst of pods makes one event each, faster than a server writes them.
_MOST_WAITING: Final = 10_000  # requests; further ones are dropped
_ENCODER: Final = msgspec.json.Encoder()
_NOT_FOUND: Final = 404
_STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"


class _Named(msgspec.Struct):
    name: str
    namespace: str


class _About(msgspec.Struct, rename="camel", omit_defaults=True):
    """The object that an event is about, as in the API."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""

    @classmethod
    def of(cls, reference: Reference) -> Self:
        """Convert the engine's reference."""
        return cls(
            reference.api_version,
            reference.kind,
            reference.namespace,
            reference.name,
            reference.uid,
            reference.resource_version,
        )


class _Counted(msgspec.Struct, rename="camel"):
    count: int
    last_observed_time: str


class _Event(
    msgspec.Struct,
    rename="camel",
    omit_defaults=True,
    tag="Event",
    tag_field="kind",
):
    """An event of the API."""

    api_version: Literal["events.k8s.io/v1"]
    metadata: _Named
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: _About
    note: str
    type: str
    series: _Counted | None = None
    related: _About | None = None


class _Patch(msgspec.Struct):
    series: _Counted


@attrs.define(eq=False)
class _Series:
    """A written event, with its number of occurrences.

    Attributes:
        note: Its content.
        name: Its name.
        since: When it occurred first, seconds since the epoch.
        last: When it occurred last.
        written: When it was written last.
        count: How often it has occurred.
    """

    note: Note
    name: str
    since: float
    last: float
    written: float
    count: int = 1


class Events:
    """Turns events into requests once these can be sent.

    Args:
        take: Sends a request, and calls the given function with the response.
        now: Returns the seconds since the epoch.
        host: The name of this machine, which distinguishes reporters.

    Attributes:
        dropped: How many requests were dropped because too many waited.
    """

    def __init__(
        self,
        take: Callable[[Request, Callable[[Response], None]], None],
        *,
        now: Callable[[], float] = time.time,
        host: str = "",
    ) -> None:
        self._take = take
        self._now = now
        self._host = host or socket.gethostname()
        self._series: dict[Hashable, _Series] = {}
        self._look_at = 0.0
        self._last_name = 0
        self._waiting: deque[Callable[[], None]] = deque()
        self.dropped = 0

    @property
    def is_empty(self) -> bool:
        """Whether no event waits to be written."""
        return not self._waiting

    def note(self, note: Note) -> None:
        """Queue an event, to be written or counted later."""
        self._later(functools.partial(self._take_in, note, self._now()))

    def make(self, may_send: Callable[[], bool]) -> None:
        """Send the requests that wait, while `is_wanted` returns True."""
        while self._waiting and may_send():
            self._waiting.popleft()()

    def _later(self, call: Callable[[], None]) -> None:
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append(call)
        else:
            self.dropped += 1

    def _take_in(self, note: Note, now: float) -> None:
        key = _key(note)
        series = self._series.get(key)
        if series is None:
            if len(self._series) >= _MOST:
                del self._series[next(iter(self._series))]
            series = _Series(note, self._name(note, now), now, now, now)
            self._series[key] = series
            self._create(series)
            return
        series.count += 1
        series.last = now
        if series.count == 2:
            self._patch(series)

    def look(self) -> None:
        """Write counts, and drop series that have ended; to be called every second."""
        now = self._now()
        if now < self._look_at:
            return
        self._look_at = now + _SECONDS_TO_LOOK
        for key, series in list(self._series.items()):
            is_over = now - series.last > _SECONDS_TO_FINISH
            if series.count > 1 and (
                is_over or now - series.written > _SECONDS_TO_REFRESH
            ):
                series.written = now
                self._later(functools.partial(self._patch, series))
            if is_over:
                del self._series[key]

    def _create(self, series: _Series) -> None:
        request = Request(
            0,
            Lane.EVENT,
            "POST",
            _path(series.note),
            _ENCODER.encode(self._event(series)),
            may_repeat=True,  # the name is unique
            wants_body=False,
        )
        self._take(request, lambda _: None)

    def _patch(self, series: _Series) -> None:
        series.written = self._now()
        body = _Patch(_counted(series))

        def answered(answer: Response) -> None:
            if answer.code == _NOT_FOUND:  # it has expired, or was never created
                self._create(series)

        request = Request(
            0,
            Lane.EVENT,
            "PATCH",
            f"{_path(series.note)}/{series.name}",
            _ENCODER.encode(body),
            _STRATEGIC_PATCH,
            may_repeat=True,
            wants_body=False,
        )
        self._take(request, answered)

    def _event(self, series: _Series) -> _Event:
        note = series.note
        return _Event(
            "events.k8s.io/v1",
            _Named(series.name, _namespace(note)),
            _micro(series.since),
            note.reporter,
            f"{note.reporter}-{self._host}",
            note.action,
            note.reason,
            _About.of(note.regarding),
            note.note,
            note.kind,
            _counted(series) if series.count > 1 else None,
            None if note.related is None else _About.of(note.related),
        )

    def _name(self, note: Note, now: float) -> str:
        """Return a unique name: the object's name and the time."""
        self._last_name = max(int(now * 1e9), self._last_name + 1)
        return f"{note.regarding.name}.{self._last_name:x}"


def _key(note: Note) -> Hashable:
    """Return the fields that events of one series share; their texts may differ."""
    related = None if note.related is None else msgspec.structs.astuple(note.related)
    about = msgspec.structs.astuple(note.regarding)
    return note.kind, note.action, note.reason, note.reporter, about, related


def _namespace(note: Note) -> str:
    return note.regarding.namespace or "default"


def _path(note: Note) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{_namespace(note)}/events"


def _counted(series: _Series) -> _Counted:
    return _Counted(series.count, _micro(series.last))


def _micro(seconds: float) -> str:
    return f"{_second(int(seconds))}.{int(seconds % 1 * 1e6):06}Z"


@functools.lru_cache(4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
