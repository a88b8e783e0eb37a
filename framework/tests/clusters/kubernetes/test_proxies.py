"""Proxies between a client and its API server."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from quaymaster.testing import make_pod
from tests.kit.fake_api_server import FakeApiServer, fake_api_server
from tests.kit.internals.kubernetes import Access, ApiClient, ApiError

PATH = "/api/v1/pods"
Agree = Callable[[socket.socket, list[bytes]], socket.socket | None]


@pytest.fixture
def server() -> Iterator[FakeApiServer]:
    with fake_api_server([make_pod(name="p")]) as server:
        yield server


@contextmanager
def proxy(agree: Agree) -> Iterator[tuple[int, list[bytes]]]:
    """Run a proxy for one connection; return its port and what it received."""
    received: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with ExitStack() as stack:
            client, _ = listener.accept()
            stack.enter_context(client)
            target = agree(client, received)
            if target is None:
                return
            stack.enter_context(target)
            back = threading.Thread(target=_copy, args=(target, client))
            back.start()
            _copy(client, target)
            back.join()

    thread = threading.Thread(target=serve)
    thread.start()
    with listener:
        yield listener.getsockname()[1], received
        thread.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    while data := source.recv(1 << 16):
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def by_http(client: socket.socket, received: list[bytes]) -> socket.socket:
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += client.recv(1)
    received += request.splitlines()
    host, _, port = request.split()[1].decode().rpartition(":")
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    return socket.create_connection((host, int(port)))


def refusing(client: socket.socket, received: list[bytes]) -> None:
    client.recv(1 << 16)
    client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")


def by_socks(client: socket.socket, received: list[bytes]) -> socket.socket:
    received.append(client.recv(3))
    client.sendall(bytes([5, received[0][2]]))
    if received[0][2]:
        received.append(client.recv(64))
        client.sendall(bytes([1, 0]))
    *_, length = client.recv(5)
    host, port = client.recv(length).decode(), client.recv(2)
    client.sendall(bytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
    return socket.create_connection((host, int.from_bytes(port, "big")))


def full(client: socket.socket, received: list[bytes]) -> None:
    client.recv(3)
    client.sendall(bytes([5, 0]))
    client.recv(64)
    client.sendall(bytes([5, 5, 0, 1]))


def ask(server: FakeApiServer, proxy_url: str) -> bytes:
    access = Access(name="here", server=server.url, proxy_url=proxy_url)
    with closing(ApiClient(access)) as client:
        return client.get(PATH)


def test_http_proxy_gets_the_target_and_the_credentials(server: FakeApiServer) -> None:
    with proxy(by_http) as (port, received):
        assert b'"name": "p"' in ask(server, f"http://jane:a%40b@127.0.0.1:{port}")
    assert received[0].startswith(f"CONNECT {server.url[7:]} HTTP/1.".encode())
    assert b"Proxy-Authorization: Basic amFuZTphQGI=" in received


@pytest.mark.parametrize(
    ("who", "expected"),
    [("", [bytes([5, 1, 0])]), ("jane:x@", [bytes([5, 1, 2]), b"\1\4jane\1x"])],
    ids=["anybody", "by name"],
)
def test_socks_proxy_works(
    server: FakeApiServer, who: str, expected: list[bytes]
) -> None:
    with proxy(by_socks) as (port, received):
        assert b'"name": "p"' in ask(server, f"socks5://{who}127.0.0.1:{port}")
    assert received == expected


@pytest.mark.parametrize(
    ("agree", "scheme", "message"),
    [
        (refusing, "http", "403 Forbidden"),
        (full, "socks5", r"the proxy refused the connection \(SOCKS5: 5\)"),
    ],
    ids=["http", "socks"],
)
def test_proxy_that_refuses_is_an_error(
    server: FakeApiServer, agree: Agree, scheme: str, message: str
) -> None:
    with (
        proxy(agree) as (port, _),
        pytest.raises(ApiError, match=message),
    ):
        ask(server, f"{scheme}://127.0.0.1:{port}")


def test_proxy_of_the_environment_is_not_used_for_this_machine(
    server: FakeApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert ask(server, "")


def test_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(name="here", server="https://harbour.invalid")
    with proxy(refusing) as (port, _):
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        with pytest.raises(ApiError, match="403 Forbidden"):
            ApiClient(access).get(PATH)
