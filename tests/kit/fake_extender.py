"""An extender behind a real socket whose answers are decided by a test."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

import attrs

from quaymaster import Pod
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

__all__ = [
    "ExtenderAnswer",
    "FakeExtender",
    "Request",
    "extended_harness",
    "extenders_config",
    "fake_extender",
    "filtering",
    "keep",
    "prioritizing",
]


_GZIP_MAGIC: Final = b"\x1f\x8b"

Request: TypeAlias = dict[str, Any]
ExtenderAnswer: TypeAlias = Callable[[Request], object]


@attrs.define
class FakeExtender:
    """A server whose answers are decided by a test.

    Attributes:
        answers: Verb -> a function that returns the answer to a request: plain data,
            bytes that are sent unchanged (with a header if they are gzip), or the
            number of an HTTP status without a body.
        url: Its address.
        requests: The verbs and requests so far.
        released: Releases the answers that wait for it; is set at the end.
    """

    answers: Mapping[str, ExtenderAnswer]
    url: str = ""
    requests: list[tuple[str, Request]] = attrs.field(factory=list)
    released: threading.Event = attrs.field(factory=threading.Event)

    def requests_for(self, verb: str) -> list[Request]:
        """Return the requests of a verb so far."""
        return [request for name, request in self.requests if name == verb]

    def hang(self, _request: Request) -> object:
        """Answer only after the test."""
        self.released.wait(60)
        return {}

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request by the test's function."""
        size = int(handler.headers["Content-Length"])
        request = json.loads(handler.rfile.read(size))
        verb = handler.path.rsplit("/", 1)[-1]
        self.requests.append((verb, request))
        answer = self.answers[verb](request)
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.send_response(answer if isinstance(answer, int) else 200)
        if body.startswith(_GZIP_MAGIC):
            handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


@contextlib.contextmanager
def fake_extender(
    tls: ssl.SSLContext | None = None, **answers: ExtenderAnswer
) -> Iterator[FakeExtender]:
    """Serve an extender with an answer for each verb; by TLS if there is a context."""
    extender = FakeExtender(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(ConnectionError):  # if the client has hung up
                extender.handle(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        scheme = "https" if tls else "http"
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        extender.url = f"{scheme}://127.0.0.1:{server.server_address[1]}/scheduler"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield extender
        finally:
            extender.released.set()
            server.shutdown()
            thread.join()


def extenders_config(*extenders: Mapping[str, Any], **settings: Any) -> dict[str, Any]:
    """Return a configuration with extenders and other settings."""
    return {
        **HEADER,
        "extenders": list(extenders),
        **settings,
    }


def filtering(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    """Return the configuration of the extender as a filter."""
    return {"urlPrefix": extender.url, "filterVerb": "filter", **settings}


def prioritizing(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    """Return the configuration of the extender as a scorer."""
    weight = {"weight": 1, **settings}
    return {"urlPrefix": extender.url, "prioritizeVerb": "prioritize", **weight}


def extended_harness(
    *extenders: Mapping[str, Any],
    pod: Pod | None = None,
    nodes: int = 3,
    **settings: Any,
) -> SchedulerHarness:
    """Make a cluster of some nodes called n0, n1, ... with one pod, called pod."""
    made = [make_node(name=f"n{index}") for index in range(nodes)]
    objects = [*made, pod or make_pod(requests={"cpu": "1"})]
    return SchedulerHarness(objects, config=extenders_config(*extenders, **settings))


def keep(*names: str, **failures: Mapping[str, str]) -> ExtenderAnswer:
    """Make an answer that keeps some of the nodes; the request has whole nodes."""

    def answer(request: Request) -> object:
        items = request["Nodes"]["items"]
        kept = [node for node in items if node["metadata"]["name"] in names]
        return {"Nodes": {"items": kept}, **failures}

    return answer
