"""Asks a server as fast as it answers, or at a given rate, at little cost of its own.

One thread looks after all connections with the kernel's own means, and what is sent was
written before. It notes what that costs, so that it can be told apart from the server.
"""

import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import attrs

__all__ = ["Asked", "ask_at_rate", "ask_in_turn", "make_question"]

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END: Final = b"\r\n\r\n"
_LARGEST: Final = 1 << 16


@attrs.frozen(kw_only=True)
class Asked:
    """What became of some questions.

    Attributes:
        seconds: How long all of it took.
        taken: How many seconds each answer took from when its question was due, sorted.
        unasked: How many questions were due, and there was no connection free for them
            until the end.
        cpu_seconds: The processor time of the client.
    """

    seconds: float
    taken: Sequence[float]
    unasked: int
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """How many answers came per second."""
        return len(self.taken) / self.seconds

    def quantile(self, part: float) -> float:
        """How many seconds that part of the answers took at most."""
        return self.taken[min(int(len(self.taken) * part), len(self.taken) - 1)]


def make_question(path: str, body: bytes) -> bytes:
    """A request as it is sent."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
    return head.encode() + _END + body


def ask_in_turn(
    port: int, questions: Iterator[bytes], connections: int, seconds: float
) -> Asked:
    """Ask on some connections, on each as soon as its last answer is there."""
    client = _Client(port, connections)
    end = client.begun + seconds

    def due() -> float | None:
        now = time.perf_counter()
        return now if now < end else None

    return client.ask(questions, due, float("inf"))


def ask_at_rate(
    port: int, questions: Iterator[bytes], connections: int, seconds: float, rate: float
) -> Asked:
    """Ask so many times a second, whether or not answers have come.

    A question that finds no connection free waits for one, and that counts.
    """
    client = _Client(port, connections)
    times = (client.begun + n / rate for n in range(int(seconds * rate)))
    return client.ask(questions, lambda: next(times, None), client.begun + seconds)


class _Client:
    """Some connections, each of which waits for an answer or is free."""

    def __init__(self, port: int, connections: int) -> None:
        self._poll = select.epoll()
        self._free: deque[socket.socket] = deque()
        self._asked: dict[int, tuple[socket.socket, float]] = {}
        self._taken: list[float] = []
        for _ in range(connections):
            one = socket.create_connection(("127.0.0.1", port))
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._poll.register(one.fileno(), select.EPOLLIN)
            self._free.append(one)
        self.begun = time.perf_counter()

    def ask(
        self, questions: Iterator[bytes], due: Callable[[], float | None], end: float
    ) -> Asked:
        """Ask until nothing is due any more, and wait for the last answers.

        Args:
            questions: What to send.
            due: Says when to ask next; None for no more.
            end: When to ask no more in any case.
        """
        begun = time.process_time()
        at = due()
        while at is not None and time.perf_counter() < end:
            while at is not None and self._free and at <= time.perf_counter():
                self._send(next(questions), at)
                at = due()
            self._wait(at if self._free else None)
        unasked = 0
        while at is not None:
            unasked, at = unasked + 1, due()
        while self._asked:
            self._wait(None)
        seconds = time.perf_counter() - self.begun
        for one in self._free:
            one.close()
        self._poll.close()
        return Asked(
            seconds=seconds,
            taken=sorted(self._taken),
            unasked=unasked,
            cpu_seconds=time.process_time() - begun,
        )

    def _send(self, question: bytes, at: float) -> None:
        one = self._free.popleft()
        one.sendall(question)
        self._asked[one.fileno()] = one, at

    def _wait(self, until: float | None) -> None:
        """Wait for answers, and receive those that are there.

        Args:
            until: When to return without any; None to wait for one.
        """
        if until is not None:
            # More exact than the milliseconds that epoll takes.
            select.select([self._poll], [], [], max(until - time.perf_counter(), 0))
        for number, _ in self._poll.poll(None if until is None else 0):
            self._receive(number)

    def _receive(self, number: int) -> None:
        one, at = self._asked[number]
        answer = one.recv(_LARGEST)
        assert answer.startswith(b"HTTP/1.1 200"), answer
        while not _is_whole(answer):
            answer += one.recv(_LARGEST)
        self._taken.append(time.perf_counter() - at)
        del self._asked[number]
        self._free.append(one)


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(_END)
    length = _LENGTH.search(head)
    return bool(end) and length is not None and len(body) >= int(length[1])
