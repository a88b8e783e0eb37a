"""An API server behind a real socket that lists the objects of a test."""

import contextlib
import gzip
import json
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import attrs

from quaymaster import ApiObject
from quaymaster.objects import to_wire
from quaymaster.testing import make_uid
from tests.kit.internals.kubernetes import operator_resources, resources_of

__all__ = [
    "ApiRefusal",
    "ApiRequest",
    "FakeApiServer",
    "fake_api_server",
    "kubeconfig_for",
]

Tree: TypeAlias = dict[str, Any]


@attrs.frozen
class ApiRequest:
    """A request of a client.

    Attributes:
        path: The path.
        query: The parameters of its query.
        headers: Its headers.
        client: The subject of its certificate; empty if it showed none.
    """

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    client: str = ""


@attrs.frozen
class ApiRefusal:
    """A response that is not a list.

    Attributes:
        code: The HTTP status.
        reason: The reason in the server's Status.
        headers: Further headers.
    """

    code: int
    reason: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict)

    def body(self, path: str) -> bytes:
        """Return the Status as JSON."""
        message = f"{path} is refused"
        status = {"kind": "Status", "message": message, "reason": self.reason}
        return json.dumps(status).encode()


@attrs.define
class FakeApiServer:
    """A server that lists objects, and accepts writes without applying them.

    Its watches begin at the version of a list, and report no changes.

    Attributes:
        items: Path -> the trees of the objects there.
        refusals: Path -> the responses to its next requests; None for a list.
        token: The bearer token that requests must have, if any.
        url: Its address.
        requests: The requests so far.
        written: Method, path and content of the writes so far.
        over: Is set at the end, which ends all watches.
    """

    items: dict[str, list[Tree]]
    refusals: dict[str, list[ApiRefusal | None]] = attrs.field(factory=dict)
    token: str = ""
    url: str = ""
    requests: list[ApiRequest] = attrs.field(factory=list)
    written: list[tuple[str, str, Any]] = attrs.field(factory=list)
    over: threading.Event = attrs.field(factory=threading.Event)

    def requests_for(self, path: str) -> list[ApiRequest]:
        """Return the requests for a path so far."""
        return [request for request in self.requests if request.path == path]

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        parts = urlsplit(handler.path)
        query, headers = dict(parse_qsl(parts.query)), dict(handler.headers)
        client = _subject_of(handler.connection)
        self.requests.append(ApiRequest(parts.path, query, headers, client))
        waiting = self.refusals.get(parts.path)
        refusal = waiting.pop(0) if waiting else None
        if "sendInitialEvents" in query:
            refusal = ApiRefusal(400, "BadRequest")
        if self.token and headers.get("Authorization") != f"Bearer {self.token}":
            refusal = ApiRefusal(401, "Unauthorized")
        if refusal is None and "watch" in query:
            handler.send_response(200)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            self.over.wait()
            return
        if refusal is None:
            answer, more = self._page(parts.path, query), {}
        else:
            answer, more = refusal.body(parts.path), dict(refusal.headers)
        if "gzip" in headers.get("Accept-Encoding", ""):
            answer, more = gzip.compress(answer), more | {"Content-Encoding": "gzip"}
        handler.send_response(refusal.code if refusal else 200)
        for name, value in more.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a write."""
        length = int(handler.headers["Content-Length"])
        content = json.loads(handler.rfile.read(length))
        path = urlsplit(handler.path).path
        self.written.append((handler.command, path, content))
        handler.send_response(201)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"{}")

    def _served(self, group_path: str) -> list[str]:
        """Return the resources of a group version."""
        below = (path.rpartition("/") for path in self.items)
        return [name for folder, _, name in below if folder == group_path]

    def _page(self, path: str, query: Mapping[str, str]) -> bytes:
        items = self.items.get(path, [])
        first = int(query.get("continue", "0"))
        last = first + int(query.get("limit", len(items)))
        metadata = {"resourceVersion": "1"}
        if last < len(items):
            metadata["continue"] = str(last)
        kind = items[0]["kind"] if items else ""
        document = {
            "kind": f"{kind}List",
            "apiVersion": items[0]["apiVersion"] if items else "v1",
            "metadata": metadata,
            "resources": [{"name": name} for name in self._served(path)],
            # As a real server: items lack the type, which the list has.
            "items": [
                {key: item[key] for key in item if key not in ("kind", "apiVersion")}
                for item in items[first:last]
            ],
        }
        return json.dumps(document).encode()


@contextlib.contextmanager
def fake_api_server(
    objects: Iterable[ApiObject] = (),
    *,
    tls: ssl.SSLContext | None = None,
) -> Iterator[FakeApiServer]:
    """Serve some objects of Kubernetes' kinds; with TLS if there is a context."""
    resources = (*resources_of(), *operator_resources())
    paths = {(resource.api_version, resource.kind): resource for resource in resources}
    server = FakeApiServer({})
    for obj in objects:
        path = paths[obj.api_version, obj.kind].path()
        server.items.setdefault(path, []).append(_stored(obj))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # clients keep their connections
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            with contextlib.suppress(ConnectionError):
                server.handle(self)

        def do_POST(self) -> None:
            with contextlib.suppress(ConnectionError):
                server.take(self)

        do_PATCH = do_POST  # noqa: N815 - as the library calls it

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        http_server.daemon_threads = True  # each kept connection has a thread
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
            server.over.set()
            http_server.shutdown()
            thread.join()


def kubeconfig_for(
    server: FakeApiServer,
    folder: Path,
    *,
    user: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
    namespace: str = "",
) -> Path:
    """Write a kubeconfig file with the context ``here``, which is the current one."""
    context = {"cluster": "c", "user": "u", "namespace": namespace}
    reached = {"server": server.url, **(cluster or {})}
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": context}],
        "clusters": [{"name": "c", "cluster": reached}],
        "users": [{"name": "u", "user": {**(user or {})}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(tree))
    return file


def _stored(obj: ApiObject) -> Tree:
    """Return the object as a server stores it."""
    tree = to_wire(obj)
    metadata = tree.setdefault("metadata", {})
    if obj.namespaced:
        metadata.setdefault("namespace", "default")
    metadata.setdefault("uid", make_uid(type(obj), obj.name, obj.namespace))
    return tree


def _subject_of(connection: object) -> str:
    if not isinstance(connection, ssl.SSLSocket):
        return ""
    certificate = connection.getpeercert() or {}
    subject: Any = certificate.get("subject", ())
    return ",".join(value for group in subject for _, value in group)
