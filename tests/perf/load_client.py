"""Sends requests to a server as fast as it answers, or at a rate, at little own cost.

One thread serves all connections with epoll, and the requests are made beforehand. The
client measures its own CPU seconds, to separate them from the server's.
"""

import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

__all__ = ["LoadResult", "make_request", "send_at_rate", "send_in_turn"]

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_LARGEST: Final = 1 << 16


@attrs.frozen(kw_only=True)
class LoadResult:
    """The measured responses of a load.

    Attributes:
        seconds: The duration.
        latencies: The latency of each response in seconds, from the time at which its
            request was due, sorted.
        unsent: The number of due requests that found no free connection until the end.
        cpu_seconds: The CPU seconds of the client.
    """

    seconds: float
    latencies: Sequence[float]
    unsent: int
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """The number of responses per second."""
        return len(self.latencies) / self.seconds

    def quantile(self, part: float) -> float:
        """Return a quantile of the latencies, in seconds."""
        return self.latencies[
            min(int(len(self.latencies) * part), len(self.latencies) - 1)
        ]


def make_request(path: str, body: bytes) -> bytes:
    """Make a request as it is sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
    return head.encode() + _END + body


def send_in_turn(
    port: int, requests: Iterator[bytes], connections: int, seconds: float
) -> LoadResult:
    """Send each connection's next request as soon as its last response is there."""
    client = _Client(port, connections)
    end = client.begun + seconds

    def due() -> float | None:
        now = time.perf_counter()
        return now if now < end else None

    return client.send(requests, due, float("inf"))


def send_at_rate(
    port: int, requests: Iterator[bytes], connections: int, seconds: float, rate: float
) -> LoadResult:
    """Send requests at a rate, whether or not responses have come.

    A request that finds no free connection waits for one, and that time counts.
    """
    client = _Client(port, connections)
    times = (client.begun + n / rate for n in range(int(seconds * rate)))
    return client.send(requests, lambda: next(times, None), client.begun + seconds)


class _Client:
    """Some connections, each of which is free or waits for a response."""

    def __init__(self, port: int, connections: int) -> None:
        self._poll = select.epoll()
        self._free: deque[socket.socket] = deque()
        self._waiting: dict[int, tuple[socket.socket, float]] = {}
        self._latencies: list[float] = []
        for _ in range(connections):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._poll.register(connection.fileno(), select.EPOLLIN)
            self._free.append(connection)
        self.begun = time.perf_counter()

    def send(
        self, requests: Iterator[bytes], due: Callable[[], float | None], end: float
    ) -> LoadResult:
        """Send requests until none is due, and wait for the last responses.

        Args:
            requests: The requests.
            due: Returns when the next request is due; None for no more.
            end: The time after which no request is sent.
        """
        begun = time.process_time()
        at = due()
        while at is not None and time.perf_counter() < end:
            while at is not None and self._free and at <= time.perf_counter():
                self._send(next(requests), at)
                at = due()
            self._wait(at if self._free else None)
        unsent = 0
        while at is not None:
            unsent, at = unsent + 1, due()
        while self._waiting:
            self._wait(None)
        seconds = time.perf_counter() - self.begun
        for connection in self._free:
            connection.close()
        self._poll.close()
        return LoadResult(
            seconds=seconds,
            latencies=sorted(self._latencies),
            unsent=unsent,
            cpu_seconds=time.process_time() - begun,
        )

    def _send(self, request: bytes, at: float) -> None:
        connection = self._free.popleft()
        connection.sendall(request)
        self._waiting[connection.fileno()] = connection, at

    def _wait(self, until: float | None) -> None:
        """Wait for responses, and receive them.

        Args:
            until: The time at which to return without any; None to wait for one.
        """
        if until is not None:
            # More exact than the milliseconds of epoll's timeout.
            select.select([self._poll], [], [], max(until - time.perf_counter(), 0))
        for number, _ in self._poll.poll(None if until is None else 0):
            self._receive(number)

    def _receive(self, number: int) -> None:
        connection, at = self._waiting[number]
        answer = connection.recv(_LARGEST)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        while not _is_whole(answer):
            answer += connection.recv(_LARGEST)
        self._latencies.append(time.perf_counter() - at)
        del self._waiting[number]
        self._free.append(connection)


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(_END)
    length = _LENGTH.search(head)
    return bool(end) and length is not None and len(body) >= int(length[1])
