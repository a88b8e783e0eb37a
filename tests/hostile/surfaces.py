"""The four servers, each in this process, with limits that a test need not wait for."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from quaymaster.config import default_config, parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.service import ServiceLimits, WarmCluster
from quaymaster.service import make_app as make_service
from quaymaster.testing import make_node
from tests.kit.documents import HEADER
from tests.kit.internals.extender_server import (
    ExtenderServer,
    ExtenderService,
    ServerOptions,
)
from tests.kit.internals.operation import Gate, PageServer, ServingOptions, health_pages
from tests.kit.internals.reporting import Workbench, make_server
from tests.kit.internals.reporting import make_app as make_ui
from tests.kit.internals.service import WithoutBrowsers, Worker
from tests.kit.internals.serving import ConnectionLimits, ServerTLS, TLSFiles

__all__ = ["CONNECTIONS", "SURFACES", "Surface", "serving", "serving_tls"]

SURFACES: Final = ("serve", "ui", "extender", "run")
_TOKEN: Final = "open-sesame"
_SECONDS: Final = 0.3  # how long a client may be silent
CONNECTIONS: Final = 30
"""How many connections each server keeps open."""


class Surface(NamedTuple):
    """A running server.

    Attributes:
        name: One of `SURFACES`.
        port: Its port on 127.0.0.1.
        path: What it answers a POST to, or a GET if it has no POST.
        fields: The header fields that a request needs.
        body: The body of a harmless request; empty for a GET.
        mark: What the answer to a harmless request has.
    """

    name: str
    port: int
    path: bytes
    fields: tuple[bytes, ...]
    body: bytes
    mark: bytes

    def request(self, *fields: bytes, body: bytes | None = None) -> bytes:
        """Return a harmless request, with further fields or another body."""
        content = self.body if body is None else body
        lengths = [b"Content-Length: %d" % len(content)] if content else []
        return self.head(*lengths, *fields) + content

    def head(self, *fields: bytes, host: bytes = b"") -> bytes:
        """Return the head of a request, with further fields or another host."""
        verb = b"POST" if self.body else b"GET"
        name = host or b"127.0.0.1:%d" % self.port
        first = (verb + b" " + self.path + b" HTTP/1.1", b"Host: " + name)
        return b"\r\n".join((*first, *self.fields, *fields, b"", b""))


@contextlib.contextmanager
def serving(name: str) -> Iterator[Surface]:
    """Run one of the servers on threads of this process."""
    with _SERVERS[name]() as surface:
        yield surface


@contextlib.contextmanager
def serving_tls(folder: Path) -> Iterator[Surface]:
    """Run ``serve`` with TLS.

    Args:
        folder: Has its certificate and key; see `make_certificate`.
    """
    files = TLSFiles(certificate=str(folder / "cert.pem"), key=str(folder / "key.pem"))
    with _serve(ServerTLS(files)) as surface:
        yield surface


@contextlib.contextmanager
def _serve(tls: ServerTLS | None = None) -> Iterator[Surface]:
    registry = PluginRegistry.discover()
    cluster = WarmCluster(
        [make_node(name="n", capacity={"cpu": "4"})],
        config=default_config(registry),
        registry=registry,
    )
    limits = ServiceLimits(
        timeout_seconds=_SECONDS, requests=4, body_bytes=1 << 20, simulations=1
    )
    app = WithoutBrowsers(make_service(cluster, limits=limits), is_local=True)
    worker = Worker(app, tls, 1, _connection_limits())
    body = b'{"pods":[{"line":"cpu=1,memory=1Gi"}]}'
    with _on_thread(worker) as port:
        yield Surface("serve", port, b"/v1/fit", (), body, b'"fits"')


@contextlib.contextmanager
def _ui() -> Iterator[Surface]:
    bench = Workbench((), registry=PluginRegistry.discover(), max_pods=1000)
    server = make_server(
        make_ui(bench, _TOKEN, body_seconds=_SECONDS), _connection_limits()
    )
    with _on_thread(server) as port:
        cookie = f"Cookie: quaymaster-{port}={_TOKEN}".encode()
        fields = (cookie, b"Content-Type: application/json")
        yield Surface("ui", port, b"/api/explain", fields, b'{"run":"A"}', b'"error"')


def _connection_limits() -> ConnectionLimits:
    return ConnectionLimits(
        connections=CONNECTIONS,
        head_seconds=_SECONDS,
        unread_seconds=_SECONDS,
        response_seconds=_SECONDS,
    )


@contextlib.contextmanager
def _on_thread(server: uvicorn.Server) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        arguments = {"sockets": [listening]}
        thread = threading.Thread(target=server.run, kwargs=arguments)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def _extender() -> Iterator[Surface]:
    registry = PluginRegistry.discover()
    plugins = {"filter": {"disabled": [{"name": "*"}]}}
    document = {**HEADER, "profiles": [{"plugins": plugins}]}
    config = parse_config(document, registry, source="test")
    service = ExtenderService(config, registry, [make_node(name="n")])
    options = ServerOptions(
        read_seconds=_SECONDS,
        max_request_bytes=1 << 20,
        connections=CONNECTIONS,
    )
    body = b'{"Pod":{},"Nodes":null,"NodeNames":[]}'
    with ExtenderServer(("127.0.0.1", 0), service, options) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Surface(
                "extender", server.server_port, b"/filter", (), body, b"NodeNames"
            )
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def _pages() -> Iterator[Surface]:
    options = ServingOptions(read_seconds=_SECONDS, connections=CONNECTIONS)
    pages = health_pages("/healthz", [])
    server = PageServer(("127.0.0.1", 0), pages, Gate(None), options)
    server.start()
    try:
        yield Surface("run", server.server_port, b"/healthz", (), b"", b"ok")
    finally:
        server.stop()


_SERVERS: Final = {
    "serve": _serve,
    "ui": _ui,
    "extender": _extender,
    "run": _pages,
}
