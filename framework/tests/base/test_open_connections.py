"""If too many connections are open, those that are idle for longest are closed."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from tests.kit.internals.serving import Connections

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    with contextlib.ExitStack() as opened:
        pairs = [socket.socketpair() for _ in range(5)]
        for each in pairs:
            for end in each:
                opened.enter_context(end)
        yield pairs


def closed(pairs: list[Pair]) -> list[int]:
    """Return which connections their server has ended."""
    return [number for number, (_, client) in enumerate(pairs) if has_ended(client)]


def has_ended(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


def test_each_new_connection_ends_another_one(pairs: list[Pair]) -> None:
    connections = Connections(2)
    for server, _ in pairs:
        connections.add(server)
    assert closed(pairs) == [0, 1, 2]


def test_connection_with_a_request_is_not_ended(pairs: list[Pair]) -> None:
    connections = Connections(2)
    connections.add(pairs[0][0])
    connections.set_busy(pairs[0][0], True)
    for server, _ in pairs[1:]:
        connections.add(server)
    assert closed(pairs) == [1, 2, 3]


def test_closed_connections_make_room(pairs: list[Pair]) -> None:
    connections = Connections(2)
    for server, _ in pairs:
        connections.add(server)
        connections.remove(server)
    assert closed(pairs) == []
