"""Follows one resource: lists it, watches it, and starts over when it must.

Mirrors ``Reflector`` (k8s.io/client-go v0.36, ``tools/cache/reflector.go``).
"""

import logging
import random
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Final

import msgspec

from quaymaster._driver.frames import (
    Changed,
    Current,
    Listing,
    Message,
    Objects,
    Trouble,
)
from quaymaster._errors import QuaymasterError
from quaymaster._kubernetes.access import Access
from quaymaster._kubernetes.client import ApiClient
from quaymaster._kubernetes.errors import ApiError

__all__ = ["Reflector"]

_PAGE: Final = 500  # objects
_GONE: Final = 410
_FIRST_WAIT: Final = 0.8  # seconds, as upstream
_LONGEST_WAIT: Final = 30.0
_SHORTEST_WATCH: Final = 300  # seconds; the longest is twice as long

_log = logging.getLogger(__name__)


class _Meta(msgspec.Struct):
    version: str = msgspec.field(default="", name="resourceVersion")
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[msgspec.Raw] | None = None


class _Versioned(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    code: int = 0
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    object: _Versioned


_PAGES: Final = msgspec.json.Decoder(_Page)
_EVENTS: Final = msgspec.json.Decoder(_Event)


class Reflector:
    """Follows one resource, on a thread of its own.

    Args:
        access: Where the server is.
        resource: What messages call the resource.
        path: The resource's path.
        tell: Takes what there is to tell.
    """

    def __init__(
        self,
        access: Access,
        resource: int,
        path: str,
        tell: Callable[[Message], None],
    ) -> None:
        self._access = access
        self._resource = resource
        self._path = path
        self._tell = tell
        self._version = ""
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin, on a thread that ends with the process."""
        threading.Thread(target=self._run, name=self._path, daemon=True).start()

    def _run(self) -> None:
        pause = _FIRST_WAIT
        with closing(ApiClient(self._access)) as client:
            while not self._stopped.is_set():
                try:
                    if not self._version:
                        self._list(client)
                    self._watch(client)
                    pause = _FIRST_WAIT
                except QuaymasterError as error:
                    if isinstance(error, ApiError) and error.code == _GONE:
                        self._version = ""
                        continue
                    self._tell(Trouble(self._resource, str(error)))
                    self._stopped.wait(pause * random.uniform(1.0, 2.0))
                    pause = min(2 * pause, _LONGEST_WAIT)

    def _list(self, client: ApiClient) -> None:
        self._tell(Listing(self._resource))
        query: dict[str, str | int] = {"limit": _PAGE}
        while True:
            page = _PAGES.decode(client.get(self._path, query))
            self._tell(Objects(self._resource, [*map(bytes, page.items or ())]))
            if not page.metadata.continue_:
                break
            query["continue"] = page.metadata.continue_
        self._version = page.metadata.version
        self._tell(Current(self._resource, self._version))

    def _watch(self, client: ApiClient) -> None:
        query: dict[str, str | int] = {
            "watch": 1,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": random.randint(_SHORTEST_WATCH, 2 * _SHORTEST_WATCH),
        }
        rest = b""
        with client.stream(self._path, query) as blocks:
            for block in blocks:
                *lines, rest = (rest + block).split(b"\n")
                if lines:
                    self._pass_on(lines)

    def _pass_on(self, lines: list[bytes]) -> None:
        changes: list[bytes] = []
        for line in lines:
            event = _EVENTS.decode(line)
            if event.type == "ERROR":
                self._send(changes)
                raise ApiError(self._path, event.object.message, code=event.object.code)
            self._version = event.object.metadata.version
            if event.type != "BOOKMARK":
                changes.append(line)
        self._send(changes)

    def _send(self, changes: list[bytes]) -> None:
        if changes:
            self._tell(Changed(self._resource, changes))
