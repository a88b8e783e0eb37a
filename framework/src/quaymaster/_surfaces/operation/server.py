"""The server of a scheduler's pages."""

import logging
import ssl
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import SplitResult, parse_qs, urlsplit

import attrs

from quaymaster._base.serving.connections import most_connections
from quaymaster._base.serving.handler import TimedHandler
from quaymaster._base.serving.server import TimedServer
from quaymaster._base.serving.tls import WrapsConnections
from quaymaster._surfaces.operation.access import ALWAYS_ALLOWED, Gate, client_of
from quaymaster._surfaces.operation.pages import NOT_FOUND, Page, Reply, text_reply

__all__ = ["PageServer", "ServingOptions"]

_HEADERS: Final = (
    ("Cache-Control", "no-cache, private"),
    ("X-Content-Type-Options", "nosniff"),
)

_POLL: Final = 0.1  # seconds; how long stopping may take

_BUSY: Final = text_reply("too many requests at once\n", HTTPStatus.SERVICE_UNAVAILABLE)

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class ServingOptions:
    """Options of the server.

    Attributes:
        tls: Adds TLS to connections; None for tests without it.
        idle_seconds: How long a connection may be silent between two requests.
        read_seconds: How long a request may take to arrive, and a response to be read.
        answers: How many requests are authorised and answered at once; more are
            rejected. Health checks without a token do not count.
        connections: The most connections.
    """

    tls: WrapsConnections | None = None
    idle_seconds: float = 90.0
    read_seconds: float = 30.0
    answers: int = 16
    connections: int = attrs.field(factory=most_connections)


class _PageHandler(TimedHandler):
    """Answers from the pages of its server, on its own thread."""

    def do_GET(self) -> None:  # noqa: N802 - as the library calls it
        """Authorise the request, and answer it."""
        server = cast("PageServer", self.server)
        target = urlsplit(self.path)
        authorization = _decoded(self.headers.get("Authorization", ""))
        # Probes need no slot. A kubelet would otherwise restart a scheduler whose pages
        # are only busy.
        if target.path in ALWAYS_ALLOWED and not authorization:
            self._answer(server, target, authorization)
        elif server.slots.acquire(blocking=False):
            server.connections.set_busy(self.connection, True)
            try:
                self._answer(server, target, authorization)
            finally:
                server.connections.set_busy(self.connection, False)
                server.slots.release()
        else:
            self._send(_BUSY)

    def _answer(
        self, server: "PageServer", target: SplitResult, authorization: str
    ) -> None:
        client = None
        if isinstance(self.connection, ssl.SSLSocket):
            client = client_of(self.connection.getpeercert())
        reply = server.gate.refusal(self.command, target.path, authorization, client)
        if reply is None:
            query = parse_qs(target.query, keep_blank_values=True)
            reply = _answered(server.pages.get(target.path), query)
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        headers = (*_HEADERS, ("Content-Type", reply.content_type))
        self.send_body(reply.status, [reply.body], headers)

    do_HEAD = do_GET  # noqa: N815 - as the library calls it


def _decoded(value: str) -> str:
    """Return a header's value as UTF-8: the library decodes each byte by itself."""
    return value.encode("latin-1", "replace").decode(errors="replace")


def _answered(page: Page | None, query: Mapping[str, list[str]]) -> Reply:
    if page is None:
        return NOT_FOUND
    try:
        return page(query)
    except Exception:
        _log.exception("a page raised an error")
        return text_reply("internal server error\n", HTTPStatus.INTERNAL_SERVER_ERROR)


class PageServer(TimedServer):
    """Serves pages by their path, to authorised clients.

    Args:
        address: Host and port; port 0 chooses a free one.
        pages: Path -> page.
        gate: Authorises requests.
        options: The options.

    Attributes:
        pages: The same.
        gate: The same.
        slots: The answers that may still begin.

    Raises:
        OSError: The server cannot listen on the address.
    """

    def __init__(
        self,
        address: tuple[str, int],
        pages: Mapping[str, Page],
        gate: Gate,
        options: ServingOptions,
    ) -> None:
        self.pages = pages
        self.gate = gate
        self.slots = threading.BoundedSemaphore(options.answers)
        super().__init__(address, _PageHandler, options)
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL,), name="pages", daemon=True
        )

    def start(self) -> None:
        """Start to serve, on other threads."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self.server_close()
