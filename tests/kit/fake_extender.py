"""An extender whose answers a test decides, behind a real socket."""

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
    """A server whose answers a test decides.

    Attributes:
        answers: Verb -> a function of the request that makes the answer: plain data,
            bytes that are sent as they are (with a header if they are gzip), or the
            number of a bare HTTP status.
        url: Its address.
        requests: The verbs and requests so far.
        released: Lets answers go on that wait for it; set in the end.
    """

    answers: Mapping[str, ExtenderAnswer]
    url: str = ""
    requests: list[tuple[str, Request]] = attrs.field(factory=list)
    released: threading.Event = attrs.field(factory=threading.Event)

    def asked(self, verb: str) -> list[Request]:
        """The requests of a verb so far."""
        return [request for one, request in self.requests if one == verb]

    def hang(self, _request: Request) -> object:
        """Answer only once the test is over."""
        self.released.wait(60)
        return {}

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request as the test has it."""
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
    """Serve an extender with an answer for each verb, by TLS if there is a context."""
    extender = FakeExtender(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with contextlib.suppress(ConnectionError):  # if nobody waits any more
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
    """A configuration with extenders, and with other settings."""
    return {
        **HEADER,
        "extenders": list(extenders),
        **settings,
    }


def filtering(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    """The extender as one that filters."""
    return {"urlPrefix": extender.url, "filterVerb": "filter", **settings}


def prioritizing(extender: FakeExtender, **settings: Any) -> dict[str, Any]:
    """The extender as one that scores."""
    weight = {"weight": 1, **settings}
    return {"urlPrefix": extender.url, "prioritizeVerb": "prioritize", **weight}


def extended_harness(
    *extenders: Mapping[str, Any],
    pod: Pod | None = None,
    nodes: int = 3,
    **settings: Any,
) -> SchedulerHarness:
    """A cluster of some nodes called n0, n1, ... with one pod, called pod."""
    made = [make_node(name=f"n{index}") for index in range(nodes)]
    objects = [*made, pod or make_pod(requests={"cpu": "1"})]
    return SchedulerHarness(objects, config=extenders_config(*extenders, **settings))


def keep(*names: str, **failures: Mapping[str, str]) -> ExtenderAnswer:
    """ExtenderAnswer like an extender that was sent whole nodes, and lets some pass."""

    def answer(request: Request) -> object:
        items = request["Nodes"]["items"]
        kept = [node for node in items if node["metadata"]["name"] in names]
        return {"Nodes": {"items": kept}, **failures}

    return answer
