"""Requests with whole nodes get their own answers, however the bytes arrive."""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest

from quaymaster import Node
from quaymaster.config import default_config
from quaymaster.objects import to_wire
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.extender_server import (
    WINDOW,
    ExtenderServer,
    ExtenderService,
)

Tree: TypeAlias = Any
"""Any JSON."""


@pytest.fixture(scope="module")
def server() -> Iterator[ExtenderServer]:
    registry = PluginRegistry.discover()
    service = ExtenderService(default_config(registry), registry)
    with ExtenderServer(("127.0.0.1", 0), service) as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def narrow_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make requests of some kilobytes be received like megabytes."""
    monkeypatch.setattr(WINDOW, 1000)


def request(owner: str, size: int = 10, *, unfit: int = 0) -> bytes:
    """Return a request with nodes of one owner, of which some are cordoned."""
    nodes = [
        make_node(
            name=f"{owner}-{index}",
            labels={"owner": owner},
            unschedulable=index < unfit,
        )
        for index in range(size)
    ]
    listed = {"metadata": {}, "items": [as_listed(node) for node in nodes]}
    tree = {"Pod": to_wire(make_pod(name=owner)), "Nodes": listed, "NodeNames": None}
    return json.dumps(tree, separators=(",", ":")).encode()


def as_listed(node: Node) -> Tree:
    """Write a node as Go does in a list: without kind, so metadata comes first."""
    kinds = ("apiVersion", "kind")
    return {key: value for key, value in to_wire(node).items() if key not in kinds}


def nodes_in(text: bytes) -> Sequence[Any]:
    found: Sequence[Any] = json.loads(text)["Nodes"]["items"]
    return found


def http_post(verb: str, text: bytes) -> bytes:
    head = f"POST /{verb} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text


def read_answer(connection: socket.socket) -> Tree:
    response = http.client.HTTPResponse(connection)
    response.begin()
    assert response.status == 200
    answer: Tree = json.loads(response.read())
    return answer


def connect(server: ExtenderServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.server_port), timeout=30)


def ask(connection: socket.socket, verb: str, text: bytes) -> Tree:
    connection.sendall(http_post(verb, text))
    return read_answer(connection)


def check(connection: socket.socket, text: bytes, unfit: int = 0) -> None:
    """Filter, then prioritize the remaining nodes, as a scheduler does."""
    left = nodes_in(text)[unfit:]
    assert ask(connection, "filter", text)["Nodes"]["items"] == left
    tree = {**json.loads(text), "Nodes": {"metadata": {}, "items": left}}
    rest = json.dumps(tree, separators=(",", ":")).encode()
    scores = ask(connection, "prioritize", rest)
    assert [score["Host"] for score in scores] == [
        node["metadata"]["name"] for node in left
    ]


def test_alternating_lists_are_distinguished(server: ExtenderServer) -> None:
    texts = [request("a"), request("b"), request("a", 5), request("a", unfit=3)]
    with contextlib.closing(connect(server)) as connection:
        for turn in (0, 0, 1, 0, 2, 0, 3, 0, 3, 3, 1, 1):
            check(connection, texts[turn], unfit=3 if turn == 3 else 0)


def test_requests_that_come_all_at_once_are_answered_in_turn(
    server: ExtenderServer,
) -> None:
    texts = [request(owner) for owner in "aabbabaa"]
    with (
        contextlib.closing(connect(server)) as connection,
        ThreadPoolExecutor(1) as other,
    ):
        together = b"".join(http_post("filter", text) for text in texts)
        sending = other.submit(connection.sendall, together)
        answers = connection.makefile("rb")
        for text in texts:
            assert b"200" in answers.readline()
            headers = http.client.parse_headers(answers)
            body = answers.read(int(headers["Content-Length"]))
            assert json.loads(body)["Nodes"]["items"] == nodes_in(text)
        sending.result()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_list_may_be_replaced_while_it_comes_again(
    share: float, server: ExtenderServer
) -> None:
    slow, fast = request("slow"), request("fast")
    with (
        contextlib.closing(connect(server)) as connection,
        contextlib.closing(connect(server)) as other,
    ):
        check(connection, slow)
        text = http_post("filter", slow)
        half = int(share * len(text))
        connection.sendall(text[:half])
        for unfit in range(4):  # each is another list, in memory that is used again
            check(other, request("fast", unfit=unfit), unfit)
        check(other, fast)
        connection.sendall(text[half:])
        assert read_answer(connection)["Nodes"]["items"] == nodes_in(slow)


def test_a_request_that_breaks_off_does_not_affect_the_others(
    server: ExtenderServer,
) -> None:
    text = request("a")
    with contextlib.closing(connect(server)) as whole:
        check(whole, text)
        for length in (0, 500, 1500, len(text) - 1):
            with contextlib.closing(connect(server)) as broken:
                broken.sendall(http_post("filter", text)[:length])
            check(whole, text)


@pytest.mark.long
def test_64_clients_are_each_answered_about_their_own_nodes(
    server: ExtenderServer,
) -> None:
    together = threading.Barrier(64)

    def client(number: int) -> None:
        text, unfit = request(f"c{number % 32}", unfit=number % 3), number % 3
        with contextlib.closing(connect(server)) as connection:
            together.wait(30)
            for _ in range(3):
                check(connection, text, unfit)

    with ThreadPoolExecutor(64) as clients:
        list(clients.map(client, range(64)))
