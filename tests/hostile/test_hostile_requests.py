"""Hostile clients cost the four servers little, and are answered with an error."""

import contextlib
import logging
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.surfaces import (
    CONNECTIONS,
    SURFACES,
    Surface,
    serving,
    serving_tls,
)
from tests.kit.certificates import make_certificate

pytestmark = pytest.mark.long

PATIENCE = 30  # seconds; only a server that never answers takes so long
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
CLOSE = b"Connection: close"


@pytest.fixture(scope="module", params=SURFACES)
def surface(request: pytest.FixtureRequest) -> Iterator[Surface]:
    with serving(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def serve() -> Iterator[Surface]:
    with serving("serve") as running:
        yield running


def connect(surface: Surface) -> socket.socket:
    return socket.create_connection(("127.0.0.1", surface.port), timeout=PATIENCE)


def rest(client: socket.socket) -> bytes:
    """Read what the server sends until it closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := client.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def answer_to(surface: Surface, *pieces: bytes) -> bytes:
    """Send bytes, and return what the server sends until it closes the connection."""
    with connect(surface) as client:
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                client.sendall(piece)
        return rest(client)


def send_for_ever(client: socket.socket, data: bytes) -> None:
    while True:
        client.sendall(data)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def assert_alive(surface: Surface) -> None:
    assert surface.mark in answer_to(surface, surface.request(CLOSE))


def test_harmless_request_is_answered(surface: Surface) -> None:
    assert_alive(surface)


@pytest.mark.parametrize(
    "fields",
    [
        [b"Content-Length: 5", b"Content-Length: 3"],
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: xchunked", b"Content-Length: 5"],
        [b"Content-Length: +5"],
        [b"Content-Length: -1"],
        [b"Content-Length: 5, 3"],
        [b"Content-Length : 5"],
        [b"Content-Length: 99999999999999999999999999"],
        [b"X: a", b" b", b"Content-Length: 5"],
        [b"X: a\0b", b"Content-Length: 5"],
        [b"no colon"],
        [b": no name"],
    ],
)
def test_ambiguous_request_gets_one_answer_with_an_error(
    surface: Surface, fields: list[bytes]
) -> None:
    answer = answer_to(surface, surface.head(*fields) + b"0\r\n\r\n" + SMUGGLED)
    assert 400 <= status_of(answer) < 500
    assert answer.count(b"HTTP/1.1 ") == 1
    assert surface.mark not in answer


def test_endless_field_is_rejected_after_64_kibibytes(surface: Surface) -> None:
    endless = surface.head()[:-2] + b"X: "
    answer = answer_to(surface, endless, *[b"a" * (1 << 15)] * 8)
    assert status_of(answer) in (400, 431)


def test_many_fields_are_rejected(surface: Surface) -> None:
    answer = answer_to(surface, surface.request(*[b"X: a"] * 150))
    assert status_of(answer) in (400, 431)


@pytest.mark.parametrize("begin", [b"", b"PO", b"POST / HTTP/1.1\r\nHost: a\r\nX: "])
def test_silent_connection_is_closed_in_time(surface: Surface, begin: bytes) -> None:
    assert surface.mark not in answer_to(surface, begin)


def test_flood_of_silent_connections_leaves_room_for_others(
    surface: Surface, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.ExitStack() as clients:
        for _ in range(3 * CONNECTIONS):
            clients.enter_context(connect(surface))
        assert_alive(surface)
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_flood_of_silent_handshakes_leaves_room_for_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = make_certificate(tmp_path)
    trusting = ssl.create_default_context(cafile=folder / "cert.pem")
    with serving_tls(folder) as secure, contextlib.ExitStack() as clients:
        silent = [
            clients.enter_context(connect(secure)) for _ in range(3 * CONNECTIONS)
        ]
        plain = clients.enter_context(connect(secure))
        with trusting.wrap_socket(plain, server_hostname="harbour.example") as client:
            client.sendall(secure.request(CLOSE))
            assert secure.mark in rest(client)
        assert rest(silent[0]) == rest(silent[-1]) == b""
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_body_that_does_not_come_is_given_up_in_time(surface: Surface) -> None:
    if surface.body:
        answer = answer_to(surface, surface.head(b"Content-Length: 9000") + b"{")
        assert status_of(answer) in (400, 408)
    assert_alive(surface)


def test_body_that_is_too_long_is_not_read(surface: Surface) -> None:
    if surface.name in ("serve", "extender"):
        answer = answer_to(surface, surface.head(b"Content-Length: 9000000", CLOSE))
        assert status_of(answer) == 413


def test_client_that_does_not_read_is_closed_in_time(surface: Surface) -> None:
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", surface.port))
        with pytest.raises(ConnectionError):
            send_for_ever(client, surface.request() * 50)
    assert_alive(surface)


DEPTH = 100_000


@pytest.mark.parametrize(
    "text",
    [
        b"[" * DEPTH,
        b'{"pods":' + b"[" * DEPTH,
        b'{"pods":[{"pod":' + b'{"a":' * DEPTH + b"1" + b"}" * DEPTH + b"}]}",
        b'{"Pod":' + b'{"a":' * DEPTH + b"1" + b"}" * DEPTH + b"}",
    ],
    ids=["lists", "lists in a field", "pod", "Pod"],
)
def test_deep_json_is_answered_without_a_traceback(
    surface: Surface, text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    if surface.body:
        answer = answer_to(surface, surface.request(CLOSE, body=text))
        assert status_of(answer) in (200, 400, 422)  # the extender's protocol has 200
        assert surface.name != "extender" or b'"Error"' in answer
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("fields", "host", "status"),
    [
        ([b"Origin: http://evil.example"], b"", 403),
        ([b"Origin: null"], b"", 403),
        ([], b"evil.example", 403),
        ([], b"evil.example:8090", 403),
        ([], b"127.0.0.1.evil.example", 403),
        ([b"Content-Type: text/plain"], b"", 415),
        ([b"Content-Type: application/x-www-form-urlencoded"], b"", 415),
        ([b"Content-Type: multipart/form-data; boundary=a"], b"", 415),
    ],
)
def test_service_without_a_token_rejects_requests_of_web_pages(
    serve: Surface, fields: list[bytes], host: bytes, status: int
) -> None:
    head = serve.head(*fields, CLOSE, b"Content-Length: 0", host=host)
    assert status_of(answer_to(serve, head)) == status


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ([b"Content-Type: application/json; charset=utf-8"], b"localhost"),
        ([b"Content-Type: Application/JSON"], b"LOCALHOST:8090"),
        ([], b"[::1]:8090"),
        ([], b"10.0.0.7"),
    ],
)
def test_service_without_a_token_answers_programs(
    serve: Surface, fields: list[bytes], host: bytes
) -> None:
    length = b"Content-Length: %d" % len(serve.body)
    head = serve.head(*fields, CLOSE, length, host=host)
    assert serve.mark in answer_to(serve, head + serve.body)


@pytest.mark.parametrize(
    ("field", "status"),
    [(b"Origin: http://evil.example", 403), (b"Content-Type: text/plain", 415)],
)
def test_extender_without_certificates_rejects_requests_of_web_pages(
    field: bytes, status: int
) -> None:
    with serving("extender") as extender:
        answer = answer_to(extender, extender.request(field, CLOSE))
    assert status_of(answer) == status


def test_requests_beyond_the_limit_are_rejected_and_health_is_not(
    serve: Surface,
) -> None:
    with contextlib.ExitStack() as clients:
        for _ in range(4):
            client = clients.enter_context(connect(serve))
            client.sendall(serve.head(b"Content-Length: 9", b"Expect: 100-continue"))
            assert client.recv(1 << 10).startswith(b"HTTP/1.1 100 ")
        assert status_of(answer_to(serve, serve.request())) == 503
        health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + CLOSE + b"\r\n\r\n"
        assert status_of(answer_to(serve, health)) == 200
    assert_alive(serve)
