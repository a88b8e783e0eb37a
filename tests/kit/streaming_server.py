"""A scripted server behind a real socket, whose watches stay open."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import attrs

from tests.kit.internals.kubernetes import ApiError
from tests.kit.scripted_server import ScriptedServer

__all__ = ["StreamingServer", "streaming_server"]


@attrs.define
class StreamingServer(ScriptedServer):
    """A scripted server whose streams wait for the next change.

    Attributes:
        url: Its address.
        held: Is called with the path of each write, which is never answered.
    """

    url: str = ""
    held: Callable[[str], None] = lambda _path: None
    _changed: threading.Condition = attrs.field(factory=threading.Condition)
    _is_closed: bool = False

    def change(self, what: Callable[[], None]) -> None:
        """Make a change, and wake the watches, which report it."""
        with self._changed:
            what()
            self._changed.notify_all()

    def close(self) -> None:
        """End all watches, and release the held requests."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def hold(self, path: str) -> None:
        """Keep a request until the end."""
        self.held(path)
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed)

    def _happen(self) -> bool:
        seen = self.version
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self.version > seen, 0.05)
        return not self._is_closed


@contextlib.contextmanager
def streaming_server(folder: Path) -> Iterator[tuple[StreamingServer, Path]]:
    """Serve one resource at every path, and write a kubeconfig file for the server."""
    server = StreamingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            with contextlib.suppress(ConnectionError):
                try:
                    self._answer(parts.path, query)
                except ApiError as error:
                    self._whole(error.code, b'{"kind": "Status"}')

        def do_POST(self) -> None:
            server.hold(self.path)
            self.close_connection = True

        def _answer(self, path: str, query: dict[str, str]) -> None:
            if "watch" not in query:
                self._whole(200, server.get(path, query))
                return
            with server.stream(path, query) as blocks:
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for block in blocks:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
            self.wfile.write(b"0\r\n\r\n")

        def _whole(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        http_server.daemon_threads = True
        http_server.block_on_close = False
        server.url = f"http://127.0.0.1:{http_server.server_address[1]}"
        thread = threading.Thread(target=http_server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server, _kubeconfig(server.url, folder)
        finally:
            server.close()
            http_server.shutdown()
            thread.join()


def _kubeconfig(url: str, folder: Path) -> Path:
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(tree))
    return file
