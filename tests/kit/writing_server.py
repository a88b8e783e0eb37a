"""A server that accepts writes, and answers or drops them as a test decides."""

import contextlib
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

__all__ = ["WritingServer", "writing_server"]


@attrs.define
class WritingServer:
    """A server's requests so far, and its next responses.

    Attributes:
        url: Its address.
        token: The bearer token that requests must have, if any.
        fates: The responses to the next requests: ``drop`` reads the request and hangs
            up, ``cut`` sends half a response, and a number is a status code. After them
            201.
        taken: Method and path of the requests that it has read and authorized.
        clients: The number of connections so far.
        subjects: The names in the certificates of clients.
    """

    url: str = ""
    token: str = ""
    fates: list[str] = attrs.field(factory=list)
    taken: list[str] = attrs.field(factory=list)
    clients: int = 0
    subjects: set[str] = attrs.field(factory=set)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
        if isinstance(handler.connection, ssl.SSLSocket):
            shown: Any = handler.connection.getpeercert() or {}
            self.subjects |= {value for ((_, value),) in shown.get("subject", ())}
        bearer = handler.headers.get("Authorization")
        if self.token and bearer != f"Bearer {self.token}":
            _answer(handler, 401)
            return
        self.taken.append(f"{handler.command} {handler.path}")
        fate = self.fates.pop(0) if self.fates else "201"
        if fate == "drop":
            handler.close_connection = True
        elif fate == "cut":
            handler.send_response(201)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.close_connection = True
        else:
            _answer(handler, int(fate))


def _answer(handler: BaseHTTPRequestHandler, code: int) -> None:
    body = json.dumps({"kind": "Status", "code": code}).encode()
    handler.send_response(code)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextlib.contextmanager
def writing_server(tls: ssl.SSLContext | None = None) -> Iterator[WritingServer]:
    """Accept writes; with TLS if there is a context."""
    server = WritingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            server.clients += 1
            super().setup()

        def do_POST(self) -> None:
            with contextlib.suppress(ConnectionError):
                server.handle(self)

        def do_DELETE(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        http_server.daemon_threads = True
        http_server.block_on_close = False
        if tls:
            http_server.socket = tls.wrap_socket(http_server.socket, server_side=True)
        port = http_server.server_address[1]
        server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        thread = threading.Thread(target=http_server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            http_server.shutdown()
            thread.join()
