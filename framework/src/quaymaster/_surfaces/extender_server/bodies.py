"""Buffers that requests are received in, one after the other."""

from collections import deque
from typing import Final, TypeAlias

import attrs

__all__ = ["Bodies", "Body", "Part", "Piece"]

# Chosen, not measured: schedulers send one request at a time, so few are at work.
_MOST_SPARE: Final = 4

# Chosen, not measured: a new buffer is an eighth longer than asked for.
_ROOM: Final = 8


class Body:
    """A request's body, at the beginning of a buffer that may be longer.

    When nothing refers to it any more, its buffer is used for another one.

    Args:
        buffer: The buffer.
        length: How many bytes of it are the body.
        spare: Takes the buffer in the end.

    Attributes:
        buffer: The buffer that it is received in.
        length: How many bytes of the buffer are the body.
    """

    __slots__ = ("_spare", "buffer", "length")

    def __init__(self, buffer: bytearray, length: int, spare: deque[bytearray]) -> None:
        self.buffer = buffer
        self.length = length
        self._spare = spare

    @classmethod
    def of(cls, text: bytes | bytearray) -> "Body":
        """Make a body in a buffer of its own."""
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
"""A part of an answer."""


class Bodies:
    """Gives out buffers, and gets them back; on any thread.

    A new buffer of megabytes takes more time than to receive a request in an old one,
    since the kernel has to find and to clear every page of it.
    """

    def __init__(self) -> None:
        # No lock: a body may be freed at any moment, even in the middle of `take`.
        self._spare: deque[bytearray] = deque(maxlen=_MOST_SPARE)

    def take(self, length: int) -> Body:
        """Give out a body of this length, to be filled; its contents mean nothing."""
        while True:
            try:
                buffer = self._spare.pop()
            except IndexError:
                # The next request is seldom of the very same length.
                buffer = bytearray(length + length // _ROOM)
            if len(buffer) >= length:
                return Body(buffer, length, self._spare)
