"""Handles one connection: its requests, one after the other."""

import io
import logging
import ssl
import time
from collections.abc import Sequence
from concurrent.futures import Future
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from quaymaster._extender_server.bodies import Part, Piece
from quaymaster._extender_server.connections import TimedReader, send_parts
from quaymaster._extender_server.messages import filter_error
from quaymaster._extender_server.service import ServiceError

if TYPE_CHECKING:  # it needs this module
    from quaymaster._extender_server.http_server import ExtenderServer

__all__ = ["Handler", "Reply"]

Reply: TypeAlias = tuple[HTTPStatus, Sequence[Part]]
"""A status, and the parts of a body."""

_JSON: Final = "application/json"
# Chosen, not measured: time for what the client was sending when the answer came.
_SECONDS_TO_LINGER: Final = 2.0
_CHUNK: Final = 1 << 16  # bytes; chosen, not measured: heads are far shorter

_log = logging.getLogger(__name__)


class Handler(BaseHTTPRequestHandler):
    """Reads requests on its own thread; another thread answers them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _extender(self) -> "ExtenderServer":
        return cast("ExtenderServer", self.server)

    def setup(self) -> None:
        """Shake hands, and read with a deadline from then on."""
        options = self._extender.options
        self.request.settimeout(options.read_seconds)
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()
        self._reader = TimedReader(self.request)
        self._buffered = self.rfile = io.BufferedReader(self._reader, _CHUNK)
        self._is_first = True

    def handle_one_request(self) -> None:
        """Wait for a request, read it before its deadline, and answer it."""
        options = self._extender.options
        silent = options.read_seconds if self._is_first else options.idle_seconds
        self._is_first = False
        self._reader.deadline = time.monotonic() + silent
        try:
            self._buffered.peek(1)
        except TimeoutError:
            self.close_connection = True
            return
        self._reader.deadline = time.monotonic() + options.read_seconds
        super().handle_one_request()

    def do_GET(self) -> None:
        """Answer the two probes."""
        path = self.path.partition("?")[0]
        if path == "/healthz":
            self._send(HTTPStatus.OK, [b"ok"], "text/plain")
        elif path == "/readyz":
            self._send_readiness()
        else:
            problem = f"expected /healthz or /readyz, got {path}"
            self._send(HTTPStatus.NOT_FOUND, [filter_error(problem)])

    def do_POST(self) -> None:
        """Answer filter or prioritize."""
        verb = self.path.rstrip("/").rsplit("/", 1)[-1]
        if verb not in ("filter", "prioritize"):
            problem = f"expected .../filter or .../prioritize, got {self.path}"
            self._refuse(HTTPStatus.NOT_FOUND, problem)
        elif (refusal := self._refusal()) is not None:
            self._refuse(*refusal)
        else:
            self._answer(verb, int(self.headers["Content-Length"]))

    def handle_expect_100(self) -> bool:
        """Ask for the body, unless the request would be refused."""
        refusal = self._refusal()
        if refusal is None:
            return super().handle_expect_100()
        self._refuse(*refusal)
        return False

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Log requests only for those who ask for such messages."""
        _log.debug(format, *args)

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        """Return why a request is refused by its head; None if it is not."""
        if not self._is_known_client():
            expected = "expected a client certificate (--client-ca-file)"
            return HTTPStatus.UNAUTHORIZED, expected
        length = self.headers.get("Content-Length", "")
        most = self._extender.options.max_request_bytes
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length"
        if int(length) > most:
            problem = f"expected at most {most} bytes (--max-request-bytes)"
            too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return too_large, f"{problem}, got a request of {length}"
        return None

    def _is_known_client(self) -> bool:
        tls = self._extender.options.tls
        if tls is None or not tls.asks_clients:
            return True
        return bool(self.connection.getpeercert())

    def _answer(self, verb: str, length: int) -> None:
        try:
            body = self._extender.receiver.receive(self._buffered.readinto, length)
        except TimeoutError:
            seconds = self._extender.options.read_seconds
            problem = f"expected the whole request within {seconds:g} s"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, problem)
            return
        self._extender.set_busy(self.connection, True)
        try:
            reply = self._extender.ask(verb, body).result()
        except ServiceError as error:
            reply = HTTPStatus.SERVICE_UNAVAILABLE, [filter_error(str(error))]
        self._send(*reply)
        self._extender.set_busy(self.connection, False)

    def _send_readiness(self) -> None:
        turn: Future[None] = self._extender.ask_for_a_turn()
        seconds = self._extender.options.ready_seconds
        try:
            turn.result(seconds)
        except (TimeoutError, ServiceError) as error:
            turn.cancel()
            problem = str(error) or f"busy for {seconds:g} s"
            unavailable = HTTPStatus.SERVICE_UNAVAILABLE
            self._send(unavailable, [problem.encode()], "text/plain")
        else:
            self._send(HTTPStatus.OK, [b"ok"], "text/plain")

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        """Answer without reading the body, and end the connection."""
        _log.warning(
            "refused a request of %s (%d): %s", self.client_address[0], status, problem
        )
        self.close_connection = True
        self._send(status, [filter_error(problem)])
        self._linger()

    def _linger(self) -> None:
        """Let the client finish: one that is cut off while it sends sees no answer."""
        self._reader.deadline = time.monotonic() + _SECONDS_TO_LINGER
        chunk = bytearray(_CHUNK)
        try:
            while self._reader.readinto(chunk):
                pass
        except OSError:
            return

    def _send(
        self, status: HTTPStatus, body: Sequence[Part], kind: str = _JSON
    ) -> None:
        seconds = self._extender.options.read_seconds
        parts = [one.text if isinstance(one, Piece) else one for one in body]
        self.connection.settimeout(seconds)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(sum(map(len, parts))))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        send_parts(self.connection, parts, seconds)
