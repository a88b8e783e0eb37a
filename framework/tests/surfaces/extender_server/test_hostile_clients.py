"""Hostile clients send invalid requests to the extender server."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from quaymaster.config import parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node
from tests.kit.documents import HEADER
from tests.kit.internals.extender_server import (
    Bodies,
    BodiesFullError,
    Body,
    ExtenderServer,
    ExtenderService,
    NodeLists,
    Receiver,
    ServerOptions,
)

BODY = b'{"Pod":{},"Nodes":null,"NodeNames":[]}'
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
MEBIBYTE = 1 << 20


@contextlib.contextmanager
def serving() -> Iterator[ExtenderServer]:
    registry = PluginRegistry.discover()
    plugins = {"filter": {"disabled": [{"name": "*"}]}}
    document = {**HEADER, "profiles": [{"plugins": plugins}]}
    config = parse_config(document, registry, source="test")
    service = ExtenderService(config, registry, [make_node(name="n")])
    with ExtenderServer(("127.0.0.1", 0), service, ServerOptions()) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as server:
        yield server.server_port


def answer_to(port: int, request: bytes) -> bytes:
    """Send bytes and return all that the server sends until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
        parts = []
        with contextlib.suppress(ConnectionError):
            while part := client.recv(1 << 16):
                parts.append(part)
    return b"".join(parts)


def post(*fields: bytes, ends: bytes = b"\r\n") -> bytes:
    lines = [b"POST /filter HTTP/1.1", b"Host: a", *fields, b"", b""]
    return ends.join(lines) + BODY + SMUGGLED


LENGTH = b"Content-Length: %d" % len(BODY)


@pytest.mark.parametrize(
    "request_bytes",
    [
        post(LENGTH, b"Content-Length: 3"),
        post(LENGTH, LENGTH),
        post(LENGTH, b"Transfer-Encoding: chunked"),
        post(b"Content-Length: +%d" % len(BODY)),
        post(b"Content-Length: 1_0"),
        post(b"Content-Length: -1"),
        post(b"Content-Length: 3, 3"),
        post(b"Content-Length : 3"),
        post(b"X: a", b" b", LENGTH),
        post(b"X: a\rb", LENGTH),
        post(b"X: a\0b", LENGTH),
        post(b"no colon", LENGTH),
        post(b": no name", LENGTH),
        post(b"Host: b", LENGTH),
        post(LENGTH, ends=b"\n"),
        b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n\r\n" + SMUGGLED,
        b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET  /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1 \r\n\r\n",
    ],
)
def test_ambiguous_request_is_answered_with_400_only(
    port: int, request_bytes: bytes
) -> None:
    answer = answer_to(port, request_bytes)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in answer
    assert answer.count(b"HTTP/1.1") == 1 + answer.count(b"such as 'GET")


@pytest.mark.parametrize(
    "fields",
    [[b"X: " + b"a" * (1 << 17)], [b"X%d: a" % number for number in range(200)]],
    ids=["long", "many"],
)
def test_head_that_is_too_large_is_answered_with_431(
    port: int, fields: list[bytes]
) -> None:
    assert answer_to(port, post(*fields, LENGTH)).startswith(b"HTTP/1.1 431 ")


def test_unambiguous_requests_are_answered_one_after_the_other(port: int) -> None:
    answer = answer_to(port, post(LENGTH, b"X:", b"Y:  b\t"))
    assert answer.count(b"HTTP/1.1 200 ") == 2


def test_body_that_is_only_announced_needs_no_memory() -> None:
    taken: list[int] = []

    def read(piece: memoryview) -> int:
        taken.append(len(piece))
        return 1

    with pytest.raises(ConnectionError):
        Receiver(NodeLists()).receive(read, 256 * MEBIBYTE)
    assert sum(taken) < MEBIBYTE


def test_buffer_grows_with_what_comes() -> None:
    sent = bytes(range(251)) * 20_000
    at = 0

    def read(piece: memoryview) -> int:
        nonlocal at
        assert len(piece) <= max(4 * at, MEBIBYTE)
        piece[:] = sent[at : at + len(piece)]
        at += len(piece)
        return len(piece)

    body = Receiver(NodeLists()).receive(read, len(sent))
    assert isinstance(body, Body)
    assert bytes(body.text) == sent


def test_all_bodies_together_are_bounded() -> None:
    bodies = Bodies(4 * MEBIBYTE)
    kept = [bodies.take(MEBIBYTE) for _ in range(3)]
    with pytest.raises(BodiesFullError):
        bodies.take(MEBIBYTE)
    kept.pop()
    assert bodies.take(MEBIBYTE).length == MEBIBYTE


def test_large_buffers_are_not_kept() -> None:
    bodies = Bodies(100 * MEBIBYTE)
    large = bodies.take(20 * MEBIBYTE).buffer
    assert bodies.take(20 * MEBIBYTE).buffer is not large


def test_request_without_a_host_is_rejected(port: int) -> None:
    answer = answer_to(port, b"GET /healthz HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_request_of_http_1_0_needs_no_host(port: int) -> None:
    answer = answer_to(port, b"GET /healthz HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
