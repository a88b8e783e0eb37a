"""A silent connection is closed, before and within the head of a request."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState

from tests.kit.internals.serving import ConnectionLimits, make_protocol

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


class Timers:
    """The event loop of a connection, reduced to its timers."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.set: list[tuple[float, Callable[[], None], asyncio.TimerHandle]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._loop, name)

    def call_later(
        self, delay: float, callback: Callable[[], None]
    ) -> asyncio.TimerHandle:
        timer = self._loop.call_later(3600, callback)
        self.set.append((delay, callback, timer))
        return timer


class Connection(asyncio.Transport):
    """A connection that records whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.is_closed = False
        self.written = b""

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def abort(self) -> None:
        self.is_closed = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written = self.written + bytes(data)

    def get_write_buffer_size(self) -> int:
        return len(self.written)


async def answer(_scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(
    ("said", "waits"),
    [([], True), ([HEAD[:20]], True), ([HEAD], False), ([HEAD, HEAD[:20]], True)],
    ids=["nothing", "half a head", "a request", "a request and half a head"],
)
def test_silent_connection_is_closed_in_time(said: list[bytes], waits: bool) -> None:
    async def play() -> None:
        timers, connection = Timers(asyncio.get_running_loop()), Connection()
        config = uvicorn.Config(answer, lifespan="off")
        config.load()
        loop = cast("asyncio.AbstractEventLoop", timers)
        made = make_protocol()(config, ServerState(), {}, loop)
        protocol = cast("asyncio.Protocol", made)
        protocol.connection_made(connection)
        for data in said:
            protocol.data_received(data)
            await asyncio.sleep(0)
        heads = [(end, timer) for delay, end, timer in timers.set if delay == 30]
        left = [end for end, timer in heads if not timer.cancelled()]
        assert bool(left) is waits
        if waits:
            (end,) = left
            end()
            assert connection.is_closed
        protocol.connection_lost(None)
        assert all(timer.cancelled() for _, timer in heads)

    asyncio.run(play())


def play(protocols: int, *said: bytes, most: int = 9) -> list[Connection]:
    """Open connections to one server and send the same bytes to each."""

    async def played() -> list[Connection]:
        config = uvicorn.Config(answer, lifespan="off")
        config.load()
        state, connections = ServerState(), []
        make = make_protocol(ConnectionLimits(connections=most))
        for _ in range(protocols):
            protocol = cast("asyncio.Protocol", make(config, state, {}))
            connections.append(Connection())
            protocol.connection_made(connections[-1])
            for data in said:
                if not connections[-1].is_closed:
                    protocol.data_received(data)
                await asyncio.sleep(0)
        return connections

    return asyncio.run(played())


@pytest.mark.parametrize(
    "said",
    [
        [HEAD[:-2] + b"X: ", *[b"a" * 30_000] * 5],
        [HEAD[:-2] + b"".join(b"X%d: a\r\n" % number for number in range(150))],
        [HEAD[:-2], *[b"X: " + b"a" * 30_000 + b"\r\n"] * 5],
    ],
    ids=["endless field", "many fields", "long fields"],
)
def test_head_that_is_too_large_is_answered_with_400(said: list[bytes]) -> None:
    (connection,) = play(1, *said)
    assert connection.is_closed
    assert connection.written.startswith(b"HTTP/1.1 400 ")


def test_connection_that_is_idle_for_longest_makes_room_for_another() -> None:
    connections = play(3, most=2)
    assert [each.is_closed for each in connections] == [True, False, False]


def test_client_that_sends_requests_without_waiting_is_answered_with_400() -> None:
    (connection,) = play(1, HEAD * 99)
    assert connection.is_closed
    assert b"HTTP/1.1 400 " in connection.written


@pytest.mark.parametrize(("read", "is_closed"), [(0, True), (9, False)])
def test_client_that_does_not_read_is_closed_in_time(
    read: int, is_closed: bool
) -> None:
    async def play() -> None:
        timers, connection = Timers(asyncio.get_running_loop()), Connection()
        config = uvicorn.Config(answer, lifespan="off")
        config.load()
        loop = cast("asyncio.AbstractEventLoop", timers)
        limits = ConnectionLimits(head_seconds=1, unread_seconds=7)
        protocol = make_protocol(limits)(config, ServerState(), {}, loop)
        protocol.connection_made(connection)
        connection.written = b"a" * 100
        protocol.pause_writing()
        connection.written = connection.written[read:]
        (judge,) = [end for delay, end, _ in timers.set if delay == 7]
        judge()
        assert connection.is_closed is is_closed
        protocol.connection_lost(None)
        assert all(timer.cancelled() for delay, _, timer in timers.set if delay == 1)

    asyncio.run(play())


def test_client_that_reads_slowest_makes_room_for_another() -> None:
    async def play() -> list[bool]:
        config = uvicorn.Config(answer, lifespan="off")
        config.load()
        make = make_protocol(ConnectionLimits(unread_responses=2))
        state, connections = ServerState(), [Connection() for _ in range(3)]
        for connection in connections:
            protocol = cast("asyncio.Protocol", make(config, state, {}))
            protocol.connection_made(connection)
            protocol.pause_writing()
        return [connection.is_closed for connection in connections]

    assert asyncio.run(play()) == [True, False, False]
