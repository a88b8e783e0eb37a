"""What reflectors read of an API server's lists and watches.

Mirrors ``ListMeta`` and ``Status`` (k8s.io/apimachinery, ``pkg/apis/meta/v1/types.go``)
and ``WatchEvent`` (``pkg/apis/meta/v1/watch.go``).
"""

from typing import Final

import msgspec

from quaymaster._clusters.driver.sent_versions import Versioned

__all__ = [
    "BOOKMARKS",
    "EVENTS",
    "OBJECTS",
    "PAGES",
    "STATUSES",
    "Event",
    "EventStatus",
]


class ListMeta(msgspec.Struct):
    resource_version: str = msgspec.field(default="", name="resourceVersion")
    further: str = msgspec.field(default="", name="continue")


class ListPage(msgspec.Struct):
    metadata: ListMeta
    items: list[msgspec.Raw] | None = None


class ListedObject(msgspec.Struct):
    metadata: Versioned


class Annotated(msgspec.Struct):
    annotations: dict[str, str] = {}


class Bookmark(msgspec.Struct):
    metadata: Annotated


class Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class StatusDetails(msgspec.Struct):
    seconds: float | None = msgspec.field(default=None, name="retryAfterSeconds")


class EventStatus(msgspec.Struct):
    message: str = ""
    reason: str = ""
    code: int = 0
    details: StatusDetails | None = None


PAGES: Final = msgspec.json.Decoder(ListPage)
OBJECTS: Final = msgspec.json.Decoder(ListedObject)
EVENTS: Final = msgspec.json.Decoder(Event)
BOOKMARKS: Final = msgspec.json.Decoder(Bookmark)
STATUSES: Final = msgspec.json.Decoder(EventStatus)
