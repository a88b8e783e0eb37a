"""API servers that misbehave: one response in bytes for each mode."""

import contextlib
import gzip
import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

__all__ = ["MODES", "Reply", "hostile_server", "write_kubeconfig"]

_DEPTH: Final = 100_000
_KINDS: Final = {"nodes": "Node", "pods": "Pod"}


@attrs.frozen
class Reply:
    """A response of a server.

    Attributes:
        body: Its body.
        status: Its status.
        fields: Further header fields.
        length: The length that it announces; None for the real one.
    """

    body: bytes
    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()
    length: int | None = None


Maker = Callable[[dict[str, Any]], Reply]
"""Makes a response from the list that a good server would send."""


def _json(tree: object, status: int = 200, *fields: tuple[str, str]) -> Reply:
    return Reply(json.dumps(tree).encode(), status, fields)


def _with(**changes: Any) -> Maker:
    return lambda page: _json({**page, **changes})


def _items(change: Callable[[dict[str, Any]], Any]) -> Maker:
    return lambda page: _json({**page, "items": [*map(change, page["items"])]})


def _named(item: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], **metadata}}


def _refusal(status: int, *fields: tuple[str, str], message: str = "no") -> Maker:
    tree = {"kind": "Status", "message": message, "code": status}
    return lambda _: _json(tree, status, *fields)


def _bytes(body: bytes, *fields: tuple[str, str]) -> Maker:
    return lambda _: Reply(body, fields=fields)


def _gzip(body: Callable[[bytes], bytes]) -> Maker:
    fields = (("Content-Encoding", "gzip"),)
    return lambda page: Reply(body(json.dumps(page).encode()), fields=fields)


MODES: Final[Mapping[str, Maker]] = {
    "random bytes": _bytes(random.Random(1).randbytes(500)),
    "nothing": _bytes(b""),
    "a page of HTML": _bytes(b"<html>login</html>", ("Content-Type", "text/html")),
    "half a list": lambda page: Reply(json.dumps(page).encode()[:-20]),
    "a body that ends too early": lambda page: Reply(
        json.dumps(page).encode(), length=len(json.dumps(page)) + 100
    ),
    "a body that never comes": lambda _: Reply(b"{", length=10**12),
    "a length beyond all numbers": lambda _: Reply(b"{", length=10**30),
    "an error with control characters": _refusal(500, message="boom\x1b[31m\nrow"),
    "a conflict": _refusal(409),
    "an expired version": _refusal(410),
    "a redirect": _refusal(301, ("Location", "http://127.0.0.1:1/evil")),
    "unauthorized": _refusal(401),
    "null": _bytes(b"null"),
    "a number": _bytes(b"7"),
    "a list without an object": _bytes(b"[]"),
    "no items": lambda page: _json({k: v for k, v in page.items() if k != "items"}),
    "items that are null": _with(items=None),
    "items that are a text": _with(items="x"),
    "items of all types": _with(items=[None, 1, "x", [], {}]),
    "items without metadata": _items(lambda item: {"spec": item["spec"]}),
    "fields of wrong types": _with(
        items=[{"metadata": {"name": 5, "labels": []}, "spec": "x"}]
    ),
    "names with control characters": _items(
        lambda item: _named(item, name="\x1b[31mEVIL\x07\n<script>")
    ),
    "names that are too long": _items(lambda item: _named(item, name="a" * 100_000)),
    "names with half a character": _items(lambda item: _named(item, name="\ud800")),
    "items twice": lambda page: _json({**page, "items": page["items"] * 2}),
    "items without a uid": _items(lambda item: _named(item, uid="")),
    "no version": _with(metadata={}),
    "a version that is not a number": _with(metadata={"resourceVersion": "abc"}),
    "metadata that is a list": _with(metadata=[]),
    "another kind": _with(kind="SecretList"),
    "deep lists": _bytes(b'{"items":' + b"[" * _DEPTH + b"]" * _DEPTH + b"}"),
    "deep objects": _bytes(b'{"items":[' + b'{"a":' * _DEPTH),
    "a deep item": lambda page: Reply(
        json.dumps(page).encode()[:-2]
        + b',{"metadata":{"name":"a"},"x":'
        + b"[" * _DEPTH
        + b"]" * _DEPTH
        + b"}]}"
    ),
    "a long number": _with(items=[{"metadata": {"generation": 10**400}}]),
    "amounts that are too large": _with(
        items=[{"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "9" * 9999}}}]
    ),
    "gzip": _gzip(gzip.compress),
    "gzip that is broken": _gzip(lambda body: gzip.compress(body)[:-9]),
    "gzip with bytes behind it": _gzip(lambda body: gzip.compress(body) + b"garbage"),
    "gzip that is not": _gzip(lambda body: body),
    "another encoding": lambda page: Reply(
        json.dumps(page).encode(), fields=(("Content-Encoding", "br"),)
    ),
    "many fields": lambda page: _json(
        page, 200, *((f"X-{number}", "a" * 1000) for number in range(90))
    ),
    "endless fields": lambda page: _json(page, 200, ("X", "a" * 300_000)),
}
"""What a server answers to each request for a list."""


def _good_page(path: str) -> dict[str, Any]:
    resource = path.rpartition("/")[2]
    kind = _KINDS.get(resource)
    spec = {"containers": [{"name": "c", "image": "x"}]} if kind == "Pod" else {}
    items = [
        {"metadata": {"name": f"{resource}-{number}", "uid": f"{number}"}, "spec": spec}
        for number in range(2 if kind else 0)
    ]
    name = kind or resource.capitalize().removesuffix("s")
    metadata = {"resourceVersion": "7"}
    return {"kind": f"{name}List", "apiVersion": "v1", "metadata": metadata} | {
        "items": items
    }


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """The client may hang up at any moment."""


@contextlib.contextmanager
def hostile_server(mode: str, folder: Path) -> Iterator[Path]:
    """Run a server, and write a kubeconfig for it.

    Args:
        mode: One of `MODES`.
        folder: The folder of the kubeconfig.
    """
    make = MODES[mode]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == "/version":
                reply = _json({"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
            else:
                reply = make(_good_page(path))
            self.send_response(reply.status)
            for name, value in reply.fields:
                self.send_header(name, value)
            length = len(reply.body) if reply.length is None else reply.length
            self.send_header("Content-Length", str(length))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(reply.body)
            self.close_connection = reply.length is not None

        def log_message(self, *_: object) -> None:
            pass

    with _Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield write_kubeconfig(folder, server.server_port)
        finally:
            server.shutdown()
            thread.join()


def write_kubeconfig(folder: Path, port: int) -> Path:
    """Write a kubeconfig for a server on this machine, and return its path."""
    cluster = {"server": f"http://127.0.0.1:{port}"}
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "SECRET-TOKEN-123456789"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path
