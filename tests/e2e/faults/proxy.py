"""A proxy between a scheduler and its API server that can disturb requests."""

import contextlib
import enum
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, NamedTuple, Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.e2e.control_plane import ControlPlane

__all__ = ["Act", "Choose", "Proxy"]

_PASSED: Final = ("accept", "accept-encoding", "content-type", "user-agent")
_REASONS: Final = {401: "Unauthorized", 429: "TooManyRequests", 500: "InternalError"}
_DELAY: Final = 2.0  # seconds
_BLOCK: Final = 1 << 16


class Act(enum.Enum):
    """What the proxy does with a request."""

    PASS = "is passed on, and answered"
    DELAY = "is passed on late"
    LOSE = "is passed on; the connection breaks before the answer"
    REPEAT = "is passed on twice; the second answer counts"
    REFUSE = "is not passed on: 429, to be sent again after a second"
    FAIL = "is not passed on: 500"
    BREAK = "is passed on, and answered by 500 all the same"


Choose: TypeAlias = Callable[[str, str], Act]
"""Chooses what to do with a request, by its method and target."""


class Proxy:
    """Serves plain HTTP on loopback, and calls the API server as administrator.

    As a context manager it listens.

    Args:
        plane: The cluster.

    Attributes:
        url: Its address.
        choose: Chooses what to do with a request.
        token: The token that a scheduler must send to avoid 401; None for any.
    """

    def __init__(self, plane: ControlPlane, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.choose: Choose = _pass
        self.token: str | None = None
        self._server = urlsplit(plane.url).netloc
        self._context = ssl.create_default_context(cafile=str(plane.authority))
        self._bearer = f"Bearer {plane.token()}"
        self._watching: set[socket.socket] = set()
        self._listener = _Listener(("127.0.0.1", port), _Handler)
        self._listener.proxy = self

    def __enter__(self) -> Self:
        threading.Thread(target=self._listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self.cut_watches()

    def heal(self) -> None:
        """Forward all requests unchanged from now on."""
        self.choose = _pass

    def cut_watches(self) -> None:
        """Break all watches."""
        for connection in [*self._watching]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def connect(self) -> http.client.HTTPSConnection:
        """Make a connection to the API server."""
        return _Connection(self._server, self._context)

    def headers(self, shown: Message) -> dict[str, str]:
        """Return the headers of the request to the API server."""
        kept = {name: text for name, text in shown.items() if name.lower() in _PASSED}
        return {**kept, "Authorization": self._bearer}

    def admits(self, shown: Message) -> bool:
        """Whether the credentials are the current ones."""
        return self.token is None or shown["Authorization"] == f"Bearer {self.token}"

    @contextlib.contextmanager
    def watching(self, client: socket.socket) -> Iterator[None]:
        """Register a connection with a watch."""
        self._watching.add(client)
        try:
            yield
        finally:
            self._watching.discard(client)


def _pass(_method: str, _target: str) -> Act:
    return Act.PASS


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    proxy: Proxy

    def handle_error(self, *_: object) -> None:
        """Ignore errors: connections break here all the time."""


class _Connection(http.client.HTTPSConnection):
    """A connection that closes its socket if the server breaks off while it begins.

    A fault kills the API server. `ssl.SSLContext.wrap_socket` leaves the socket open if
    the server resets a connection before the handshake, so TLS comes first here.
    """

    def __init__(self, server: str, context: ssl.SSLContext) -> None:
        super().__init__(server, timeout=120)
        self._tls = context

    def connect(self) -> None:
        """Connect to the server."""
        plain = socket.socket()
        plain.settimeout(self.timeout)
        connection = self._tls.wrap_socket(plain, server_hostname=self.host)
        try:
            connection.connect((self.host, self.port))
        except OSError:
            connection.close()
            raise
        self.sock = connection


class _Answer(NamedTuple):
    code: int
    headers: dict[str, str]
    body: bytes


class _Handler(BaseHTTPRequestHandler):
    """One connection of a scheduler, and its connection to the API server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, _Listener)
        self.proxy = self.server.proxy
        self.behind = self.proxy.connect()

    def finish(self) -> None:
        self.behind.close()
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        self.take()

    def do_POST(self) -> None:
        self.take()

    def do_PUT(self) -> None:
        self.take()

    def do_PATCH(self) -> None:
        self.take()

    def do_DELETE(self) -> None:
        self.take()

    def take(self) -> None:
        """Do with one request what `Proxy.choose` returns."""
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if not self.proxy.admits(self.headers):
            return self.answer(_refusal(401))
        act = self.proxy.choose(self.command, self.path)
        if act is Act.REFUSE:
            return self.answer(_refusal(429))
        if act is Act.FAIL:
            return self.answer(_refusal(500))
        if act is Act.DELAY:
            time.sleep(_DELAY)
        if "watch" in parse_qs(urlsplit(self.path).query):
            return self.relay()
        if act is Act.REPEAT:
            self.ask(body)
        answer = self.ask(body)
        if act is Act.LOSE:
            raise ConnectionAbortedError
        return self.answer(_refusal(500) if act is Act.BREAK else answer)

    def ask(self, body: bytes) -> _Answer:
        """Send a request to the API server."""
        headers = self.proxy.headers(self.headers)
        self.behind.request(self.command, self.path, body or None, headers)
        answer = self.behind.getresponse()
        passed = {
            name: text
            for name, text in answer.getheaders()
            if name in ("Content-Type", "Content-Encoding", "Retry-After")
        }
        return _Answer(answer.status, passed, answer.read())

    def answer(self, answer: _Answer) -> None:
        """Send a response to the scheduler."""
        self.send_response(answer.code)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def relay(self) -> None:
        """Forward the API server's stream to the scheduler."""
        headers = self.proxy.headers(self.headers)
        self.behind.timeout = None
        self.behind.request("GET", self.path, headers=headers)
        answer = self.behind.getresponse()
        self.close_connection = True
        self.send_response(answer.status)
        for name in ("Content-Type", "Content-Encoding"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.proxy.watching(self.connection):
            while block := answer.read1(_BLOCK):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
        self.wfile.write(b"0\r\n\r\n")


def _refusal(code: int) -> _Answer:
    reason = _REASONS[code]
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "the proxy plays a fault",
        "reason": reason,
        "code": code,
    }
    headers = {"Content-Type": "application/json"}
    if code == 429:
        headers["Retry-After"] = "1"
    return _Answer(code, headers, json.dumps(status).encode())
