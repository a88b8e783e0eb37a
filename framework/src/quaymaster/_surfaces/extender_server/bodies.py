"""Buffers for requests, which are reused."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

__all__ = ["Bodies", "BodiesFullError", "Body", "Growing", "Part", "Piece"]

# Schedulers send one request at a time, so few buffers are in use.
_MOST_SPARE: Final = 4

# Larger buffers are not kept. Chosen, not measured: twice what 5,000 nodes need.
_LARGEST_SPARE: Final = 1 << 24

# A new buffer is an eighth longer than needed.
_ROOM: Final = 8

# A body begins with a small buffer, which grows when it is full: a client may announce
# a body that never comes.
_FIRST: Final = 1 << 16
_GROWTH: Final = 4


class BodiesFullError(Exception):
    """All bodies together would need too much memory."""


class Body:
    """A request's body, at the beginning of a buffer that may be longer.

    When it is garbage, its buffer is reused.

    Args:
        buffer: The buffer.
        length: The length of the body in bytes.
        pool: Receives the buffer for reuse, if any.

    Attributes:
        buffer: The buffer.
        length: The length of the body in bytes.
    """

    __slots__ = ("_pool", "buffer", "length")

    def __init__(
        self, buffer: bytearray, length: int, pool: "Bodies | None" = None
    ) -> None:
        self.buffer = buffer
        self.length = length
        self._pool = pool

    @classmethod
    def of(cls, text: bytes | bytearray) -> "Body":
        """Create a body in its own buffer."""
        return cls(bytearray(text), len(text))

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.give_back(self.buffer)

    @property
    def text(self) -> memoryview:
        """The bytes of the body, valid only as long as something refers to the body."""
        return memoryview(self.buffer)[: self.length]


@attrs.frozen(eq=False)
class Piece:
    """A piece of a body, which keeps the body alive.

    Attributes:
        body: The body.
        text: The piece.
    """

    body: Body
    text: memoryview


Part: TypeAlias = bytes | Piece
"""A part of a response."""


class Bodies:
    """A pool of buffers, for any thread.

    Allocating a buffer of megabytes takes longer than receiving a request in an old
    one, because the kernel must clear each page.

    Args:
        most_bytes: The most bytes of all buffers in use.
    """

    def __init__(self, most_bytes: int = 1 << 30) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._used = 0
        # A body may be freed at any moment, even in the middle of `_reserve`, so these
        # have no lock: their operations are atomic.
        self._freed: deque[int] = deque()
        self._spare: deque[bytearray] = deque(maxlen=_MOST_SPARE)

    def take(self, length: int, at_first: int | None = None) -> Body:
        """Return a body of this length with arbitrary content.

        Args:
            length: The length.
            at_first: How long a new buffer is, if it will grow.

        Raises:
            BodiesFullError: All bodies together are too large.
        """
        buffer = self._spare_buffer(length)
        if buffer is None:
            size = length if at_first is None else min(length, at_first)
            # The next request rarely has exactly the same length.
            size += size // _ROOM
            self._reserve(size)
            buffer = bytearray(size)
        else:
            self._reserve(len(buffer))
        return Body(buffer, length, self)

    def _spare_buffer(self, length: int) -> bytearray | None:
        while True:
            try:
                buffer = self._spare.pop()
            except IndexError:
                return None
            if len(buffer) >= length:
                return buffer

    def grow(self, buffer: bytearray, length: int) -> None:
        """Make a buffer at least as long as this; see `take`."""
        size = length + length // _ROOM - len(buffer)
        self._reserve(size)
        buffer.extend(bytes(size))

    def give_back(self, buffer: bytearray) -> None:
        """Take back a buffer that nothing refers to."""
        self._freed.append(len(buffer))
        if len(buffer) <= _LARGEST_SPARE:
            self._spare.append(buffer)

    def _reserve(self, size: int) -> None:
        with self._lock:
            while self._freed:
                self._used -= self._freed.popleft()
            if self._used + size > self._most_bytes:
                raise BodiesFullError
            self._used += size


class Growing:
    """A body that is being received: its buffer grows with what has come.

    Args:
        pool: The pool of its buffer.
        length: The length of the body.

    Raises:
        BodiesFullError: All bodies together are too large.
    """

    def __init__(self, pool: Bodies, length: int) -> None:
        self._pool = pool
        self._body = pool.take(length, _FIRST)
        self._came = 0

    def add(self, part: bytes | memoryview) -> None:
        """Append a part that has come."""
        self._make_room(self._came + len(part))
        end = self._came + len(part)
        self._body.buffer[self._came : end] = part
        self._came = end

    def fill(self, fill: Callable[[memoryview], None]) -> Body:
        """Receive the rest, and return the body.

        Args:
            fill: Fills a piece of memory, or raises an error.
        """
        body = self._body
        while self._came < body.length:
            end = min(len(body.buffer), body.length)
            with memoryview(body.buffer) as whole, whole[self._came : end] as piece:
                fill(piece)
            self._came = end
            if end < body.length:
                self._make_room(min(body.length, end * _GROWTH))
        return body

    def _make_room(self, length: int) -> None:
        if len(self._body.buffer) < length:
            self._pool.grow(self._body.buffer, length)
