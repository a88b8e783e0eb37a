"""Handles one connection: each request must arrive before its deadline."""

import io
import logging
import ssl
import time
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Final, cast

from quaymaster._base.serving.connections import TimedReader, send_parts
from quaymaster._base.serving.heads import HeadError, read_fields

if TYPE_CHECKING:  # it needs this module
    from quaymaster._base.serving.server import TimedServer

__all__ = ["TimedHandler"]

_CHUNK: Final = 1 << 16  # bytes; chosen, not measured: heads are far shorter

# Time for the rest of a request that was already answered.
_SECONDS_TO_LINGER: Final = 2.0

_log = logging.getLogger(__name__)


class TimedHandler(BaseHTTPRequestHandler):
    """Reads requests on its own thread, each before its deadline.

    Attributes:
        reader: Reads the connection up to a deadline.
        buffered: The same reader, with a buffer.
    """

    raw_requestline: bytes
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _timed(self) -> "TimedServer":
        return cast("TimedServer", self.server)

    def setup(self) -> None:
        """Perform the TLS handshake; all later reads have a deadline."""
        self.request.settimeout(self._timed.read_seconds)
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()
        self.reader = TimedReader(self.request)
        self.buffered = io.BufferedReader(self.reader, _CHUNK)
        self.rfile = self.buffered
        self._is_first = True

    def handle_one_request(self) -> None:
        """Wait for a request, read it before its deadline, and answer it."""
        server = self._timed
        silent = server.read_seconds if self._is_first else server.idle_seconds
        self._is_first = False
        self.reader.deadline = time.monotonic() + silent
        try:
            self.buffered.peek(1)
        except TimeoutError:
            self.close_connection = True
            return
        self.reader.deadline = time.monotonic() + server.read_seconds
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Read the head of a request; return whether it may be answered."""
        self.command, self.request_version = "", self.protocol_version
        self.requestline = ""
        try:
            fields = read_fields(self.raw_requestline, self.buffered.readline)
        except HeadError as error:
            status = HTTPStatus.BAD_REQUEST
            if error.is_too_large:
                status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self.reject(status, f"{error}\n".encode(), "text/plain")
            return False
        self.rfile = io.BytesIO(fields)
        try:
            return super().parse_request()
        finally:
            self.rfile = self.buffered

    def reject(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        """Respond without reading the body, and end the connection."""
        self.close_connection = True
        self.send_body(status, [body], [("Content-Type", kind)])
        self._linger()

    def _linger(self) -> None:
        """Let the client finish sending; otherwise it would not see the response."""
        self.reader.deadline = time.monotonic() + _SECONDS_TO_LINGER
        chunk = bytearray(_CHUNK)
        try:
            while self.reader.readinto(chunk):
                pass
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Log requests only at the level of debug messages."""
        _log.debug(format, *args)

    def send_body(
        self,
        status: HTTPStatus,
        parts: Sequence[bytes | memoryview],
        headers: Sequence[tuple[str, str]],
    ) -> None:
        """Send a response whose body is in parts.

        Args:
            status: The status.
            parts: The bytes; left out of the response to a HEAD.
            headers: Further headers; the length is added automatically.
        """
        seconds = self._timed.read_seconds
        self.connection.settimeout(seconds)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(sum(map(len, parts))))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            send_parts(self.connection, parts, seconds)
