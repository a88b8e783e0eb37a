"""Buffers for requests, which are reused."""

from collections import deque
from typing import Final, TypeAlias

import attrs

__all__ = ["Bodies", "Body", "Part", "Piece"]

# Schedulers send one request at a time, so few buffers are in use.
_MOST_SPARE: Final = 4

# A new buffer is an eighth longer than needed.
_ROOM: Final = 8


class Body:
    """A request's body, at the beginning of a buffer that may be longer.

    When it is garbage, its buffer is reused.

    Args:
        buffer: The buffer.
        length: The length of the body in bytes.
        spare: Receives the buffer for reuse.

    Attributes:
        buffer: The buffer.
        length: The length of the body in bytes.
    """

    __slots__ = ("_spare", "buffer", "length")

    def __init__(self, buffer: bytearray, length: int, spare: deque[bytearray]) -> None:
        self.buffer = buffer
        self.length = length
        self._spare = spare

    @classmethod
    def of(cls, text: bytes | bytearray) -> "Body":
        """Create a body in its own buffer."""
        return cls(bytearray(text), len(text), deque(maxlen=0))

    def __del__(self) -> None:
        self._spare.append(self.buffer)

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
    """

    def __init__(self) -> None:
        # No lock: a body may be freed at any moment, even in the middle of `take`.
        self._spare: deque[bytearray] = deque(maxlen=_MOST_SPARE)

    def take(self, length: int) -> Body:
        """Return a body of this length with arbitrary content."""
        while True:
            try:
                buffer = self._spare.pop()
            except IndexError:
                # The next request rarely has exactly the same length.
                buffer = bytearray(length + length // _ROOM)
            if len(buffer) >= length:
                return Body(buffer, length, self._spare)
