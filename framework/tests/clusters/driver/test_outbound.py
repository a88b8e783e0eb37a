"""Requests over real sockets: sending, lost connections and credentials."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import msgspec
import pytest

from quaymaster.testing import make_pod
from tests.kit.certificates import make_certificate, mutual_tls_context
from tests.kit.internals.driver import RequestCounts
from tests.kit.internals.kubernetes import Access
from tests.kit.internals.outbound import Outbound, Pem, Request, Response, requests
from tests.kit.writing_server import WritingServer, writing_server

POD = make_pod(name="a")
BINDING = "POST /api/v1/namespaces/default/pods/a/binding"


class Client:
    """Sends requests through `Outbound` and waits for the response."""

    def __init__(self, outbound: Outbound, answers: "SimpleQueue[Response]") -> None:
        self.counted = outbound.counted
        self._outbound = outbound
        self._answers = answers

    def ask(self, request: Request) -> Response:
        request.call = 1
        self._outbound.post(lambda: self._outbound.take(request))
        return self._answers.get(timeout=30)

    def bind(self) -> Response:
        return self.ask(requests.bind(POD, "node"))


@contextmanager
def client_of(access: Callable[[], Access]) -> Iterator[Client]:
    answers = SimpleQueue[Response]()
    outbound = Outbound(
        access, answers.put, counts=RequestCounts(), may_write=lambda: True
    )
    thread = threading.Thread(target=outbound.run)
    thread.start()
    try:
        yield Client(outbound, answers)
    finally:
        outbound.post(lambda: outbound.leave(0.0))
        thread.join()


@pytest.fixture
def server() -> Iterator[WritingServer]:
    with writing_server() as server:
        yield server


@pytest.fixture
def client(server: WritingServer) -> Iterator[Client]:
    with client_of(lambda: Access(name="here", server=server.url)) as client:
        yield client


def test_connection_is_kept(server: WritingServer, client: Client) -> None:
    assert [client.bind().code for _ in range(5)] == [201] * 5
    assert server.taken == [BINDING] * 5
    assert server.clients == 1


@pytest.mark.parametrize(
    ("fate", "code"), [("201", "201"), ("409", "409"), ("drop", "<error>")]
)
def test_requests_are_counted_once_their_outcome_is_known(
    server: WritingServer, client: Client, fate: str, code: str
) -> None:
    server.fates = [fate]
    client.bind()
    counted = client.counted()
    assert counted.requests == {(code, "POST"): 1}
    assert sum(counted.durations["POST"].counts) == 1


@pytest.mark.parametrize("fate", ["drop", "cut", "500", "504", "409"])
def test_bind_without_a_clear_answer_is_in_doubt_and_sent_once(
    server: WritingServer, client: Client, fate: str
) -> None:
    server.fates = [fate]
    assert client.bind().is_in_doubt
    assert server.taken == [BINDING]


@pytest.mark.long
@pytest.mark.parametrize("fate", ["drop", "cut", "503"])
def test_delete_by_uid_is_repeated(
    server: WritingServer, client: Client, fate: str
) -> None:
    server.fates = [fate, "404"]
    answer = client.ask(requests.delete(type(POD), POD.key, "uid-1", None))
    assert (answer.code, answer.why) == (200, "")
    assert len(server.taken) == 2


def test_binding_has_the_annotations_that_the_pod_gets_with_it() -> None:
    body = msgspec.json.decode(requests.bind(POD, "node", {"a": "1"}).body)
    named = {"name": "a", "namespace": "default", "uid": POD.uid}
    assert body["metadata"] == {**named, "annotations": {"a": "1"}}
    body = msgspec.json.decode(requests.bind(POD, "node", {}).body)
    assert body["metadata"] == named


def test_request_that_was_not_sent_before_the_end_is_not_in_doubt() -> None:
    with writing_server() as server:
        access = Access(name="here", server=server.url)
    answers = SimpleQueue[Response]()
    outbound = Outbound(
        lambda: access, answers.put, counts=RequestCounts(), may_write=lambda: True
    )
    request = requests.bind(POD, "node")
    request.call = 1
    outbound.take(request)
    outbound.leave(0.0)
    outbound.run()
    answer = answers.get(timeout=30)
    assert answer.why == "not sent: this process is about to end"
    assert not answer.is_in_doubt


def test_rewritten_token_is_sent_after_a_rejection(
    server: WritingServer, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    server.token = "first"
    access = Access(name="here", server=server.url, token_file=str(file))
    with client_of(lambda: access) as client:
        assert client.bind().code == 201
        file.write_text("second")
        server.token = "second"
        assert client.bind().code == 201
    assert server.taken == [BINDING] * 2


def test_token_that_stays_wrong_is_an_error(server: WritingServer) -> None:
    server.token = "right"
    access = Access(name="here", server=server.url, token="wrong")
    with client_of(lambda: access) as client:
        answer = client.bind()
    assert answer.code == 401
    assert not answer.is_in_doubt
    assert server.taken == []


def test_rewritten_kubeconfig_is_read_after_a_rejection(
    server: WritingServer,
) -> None:
    server.token = "first"
    tokens = ["first"]
    with client_of(
        lambda: Access(name="here", server=server.url, token=tokens[-1])
    ) as client:
        assert client.bind().code == 201
        tokens.append("second")
        server.token = "second"
        assert client.bind().code == 201


@pytest.mark.long
def test_server_is_reached_by_tls_with_a_client_certificate(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    pem, key = (Pem(file=str(tmp_path / name)) for name in ("cert.pem", "key.pem"))
    with writing_server(mutual_tls_context(tmp_path)) as server:
        access = Access(
            name="here",
            server=server.url,
            server_name="harbour.example",
            authority=pem,
            certificate=pem,
            key=key,
        )
        with client_of(lambda: access) as client:
            assert client.bind().code == 201
    assert server.subjects == {"harbour.example"}
