"""The memory that requests are received in, used again and again."""

import threading
from typing import Final

import attrs

__all__ = ["Bodies", "Body"]

_MOST_SPARE: Final = 4
_ROOM: Final = 8


@attrs.frozen(eq=False)
class Body:
    """A request's body, at the beginning of a buffer that may be longer.

    Attributes:
        buffer: What it was received in.
        length: How many bytes of the buffer are the body.
    """

    buffer: bytearray
    length: int

    @classmethod
    def of(cls, text: bytes | bytearray) -> "Body":
        """A body in a buffer of its own."""
        return cls(bytearray(text), len(text))

    @property
    def text(self) -> memoryview:
        """The body alone; it changes if the buffer is used again."""
        return memoryview(self.buffer)[: self.length]


class Bodies:
    """Gives out buffers, and takes them back; from any thread.

    A fresh buffer of megabytes costs more than to receive a request in one: the kernel
    has to find and to clear every page of it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spare: list[bytearray] = []

    def take(self, length: int) -> Body:
        """A body of this length, to be filled; what is in it is of no account."""
        with self._lock:
            fitting = [one for one in self._spare if len(one) >= length]
            if fitting:
                buffer = min(fitting, key=len)
                self._spare = [one for one in self._spare if one is not buffer]
                return Body(buffer, length)
        # The next one is seldom of the very same length.
        return Body(bytearray(length + length // _ROOM), length)

    def give(self, buffer: bytearray) -> None:
        """Take back a buffer that nobody looks at any more; some are kept."""
        with self._lock:
            self._spare = [*self._spare, buffer][-_MOST_SPARE:]
