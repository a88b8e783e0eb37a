"""API servers whose watches or bindings misbehave, and then behave well."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.hostile.servers import write_kubeconfig

__all__ = ["BINDINGS", "WATCHES", "WatchedServer", "serving"]

Objects: TypeAlias = dict[str, Any]
Lines: TypeAlias = Callable[[Callable[..., Objects]], Sequence[bytes]]
"""Makes the lines of a watch, from what makes an object of a name."""

_GROUP_PATHS: Final = 3  # slashes of a path that names no resource


def _event(kind: object, content: object) -> bytes:
    return json.dumps({"type": kind, "object": content}).encode() + b"\n"


def _status(code: int, reason: str = "") -> Objects:
    return {"kind": "Status", "code": code, "reason": reason}


WATCHES: Final[Mapping[str, Lines]] = {
    "random bytes": lambda _: [b"\xff\x00garbage\n"],
    "half an event": lambda make: [_event("ADDED", make("x"))[:-30]],
    "an event twice": lambda make: [_event("ADDED", make("first"))] * 5,
    "versions that go back": lambda make: [
        _event("MODIFIED", make("first", version=900)),
        _event("MODIFIED", make("first", version=5)),
    ],
    "deletions of what is not there": lambda make: [
        _event("DELETED", make("x")),
        _event("MODIFIED", make("y")),
    ],
    "an expired version": lambda _: [_event("ERROR", _status(410, "Expired"))],
    "an error": lambda _: [_event("ERROR", _status(500))],
    "events of other types": lambda make: [
        _event("BOGUS", make("x")),
        _event(None, None),
    ],
    "lines of other types": lambda _: [b"[]\n", b"null\n", b"{}\n", b"7\n", b"\n"],
    "bookmarks without a version": lambda _: [
        _event("BOOKMARK", {"kind": "x"}),
        _event("BOOKMARK", {"metadata": {"resourceVersion": "abc"}}),
    ],
    "objects without a name": lambda _: [
        _event("ADDED", {}),
        _event("ADDED", {"metadata": {}}),
        _event("ADDED", "x"),
    ],
    "fields of wrong types": lambda make: [
        _event("ADDED", {**make("x"), "spec": 5}),
        _event("ADDED", {**make("y"), "status": []}),
    ],
    "a uid that changes": lambda make: [
        _event("MODIFIED", make("first", version=900, uid="other"))
    ],
    "control characters": lambda make: [
        _event("ADDED", {**make("\x1b[31mEVIL\x07\n"), "spec": {"x": "\u202e"}})
    ],
    "a deep object": lambda _: [
        b'{"type":"ADDED","object":' + b'{"a":' * 100_000,
        b"1" + b"}" * 100_001 + b"\n",
    ],
    "a large object": lambda make: [
        _event("ADDED", {**make("x"), "x": "a" * (5 << 20)})
    ],
    "many events": lambda make: [
        _event("MODIFIED", make("first", version=900 + number))
        for number in range(2000)
    ],
}
"""What the first watches of nodes and pods send."""

BINDINGS: Final[Mapping[str, tuple[int, bytes]]] = {
    "an error": (500, b'{"kind":"Status","message":"boom\\u001b[31m","code":500}'),
    "a conflict": (409, b'{"kind":"Status","reason":"Conflict","code":409}'),
    "forbidden": (403, b'{"kind":"Status","reason":"Forbidden","code":403}'),
    "not found": (404, b"null"),
    "deep JSON": (422, b"[" * 100_000),
}
"""How the first binding of each pod is answered."""


def _kind_of(resource: str) -> str:
    """Return the kind of a resource, such as ``Pod`` of ``pods``."""
    return {"nodes": "Node", "pods": "Pod"}.get(resource, "Other")


def _object(resource: str, name: str, *, version: int = 300, uid: str = "") -> Objects:
    metadata: Objects = {"name": name, "uid": uid or f"uid-{name}"}
    metadata["resourceVersion"] = str(version)
    if resource == "nodes":
        amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        return {"metadata": metadata, "status": {"allocatable": amounts}}
    metadata["namespace"] = "default"
    containers = [{"name": "c", "image": "x"}]
    spec = {"schedulerName": "default-scheduler", "containers": containers}
    return {"metadata": metadata, "spec": spec}


class WatchedServer:
    """What a hostile server does, and what it has received.

    Attributes:
        lines: What the first watch of nodes and of pods sends.
        refusal: The first response to the binding of each pod; None for success.
        bound: The pods whose binding succeeded.
        has_bound: Set when the pod ``last`` is bound, which comes after all others.
        is_over: Set at the end of the test.
    """

    def __init__(
        self, lines: Lines | None = None, refusal: tuple[int, bytes] | None = None
    ) -> None:
        self.lines = lines
        self.refusal = refusal
        self.bound: set[str] = set()
        self.has_bound = threading.Event()
        self.is_over = threading.Event()
        self._calm: set[str] = set()
        self._refused: set[str] = set()
        self._attacked: set[str] = set()

    def bind(self, pod: str) -> tuple[int, bytes]:
        """Answer a binding."""
        if self.refusal is not None and pod not in self._refused:
            self._refused.add(pod)
            return self.refusal
        self.bound.add(pod)
        if pod == "last":
            self.has_bound.set()
        return 201, b'{"kind":"Status","status":"Success"}'

    def page(self, resource: str) -> Objects:
        """Return a list; after the attack, the pods have one more."""
        names: tuple[str, ...] = ()
        if resource == "nodes":
            names = ("node",)
        elif resource == "pods":
            is_over = self.lines is None or resource in self._attacked
            names = ("first", "last") if is_over else ("first",)
        items = [_object(resource, name) for name in names if name not in self.bound]
        metadata = {"resourceVersion": "200"}
        return {
            "kind": f"{_kind_of(resource)}List",
            "metadata": metadata,
            "items": items,
        }

    def rest(self, resource: str) -> None:
        """Wait for the end, except in the hostile watches, which end at once."""
        is_hostile = resource in self._attacked and resource not in self._calm
        self._calm.add(resource)
        if not is_hostile:
            self.is_over.wait()

    def attack(self, resource: str) -> Iterator[bytes]:
        """Yield the lines of a watch; the first ones of nodes and pods are hostile."""
        if self.lines is None or resource not in ("nodes", "pods"):
            return
        if resource not in self._attacked:
            self._attacked.add(resource)
            yield from self.lines(lambda name, **more: _object(resource, name, **more))
        elif resource == "pods":
            yield _event("ADDED", _object("pods", "last", version=5000))


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of a scheduler."""

    protocol_version = "HTTP/1.1"
    hostile: WatchedServer

    def do_GET(self) -> None:
        """Answer a read."""
        target = urlsplit(self.path)
        resource = target.path.rpartition("/")[2]
        query = parse_qs(target.query)
        if target.path == "/version":
            self._send(200, b'{"major":"1","minor":"37","gitVersion":"v1.37.2"}')
        elif target.path.count("/") < _GROUP_PATHS:
            self._send(200, b'{"kind":"APIResourceList","resources":[]}')
        elif "sendInitialEvents" in query:
            self._send(422, b'{"kind":"Status","reason":"Invalid","code":422}')
        elif "watch" in query:
            self._watch(resource)
        else:
            self._send(200, json.dumps(self.hostile.page(resource)).encode())

    def do_POST(self) -> None:
        """Answer a write."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = self.path.split("/")
        if parts[-1] == "binding":
            self._send(*self.hostile.bind(parts[-2]))
        else:
            self._send(201, b"{}")

    do_PATCH = do_POST  # noqa: N815 - as the library calls it

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, resource: str) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            for line in self.hostile.attack(resource):
                self.wfile.write(line)
            self.hostile.rest(resource)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextlib.contextmanager
def serving(server: WatchedServer, folder: Path) -> Iterator[Path]:
    """Serve on the loopback interface, and write a kubeconfig."""
    handler = type("Handler", (_Handler,), {"hostile": server})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield write_kubeconfig(folder, http.server_port)
        finally:
            server.is_over.set()
            http.shutdown()
            thread.join()
