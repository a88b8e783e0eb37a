"""What the engine's process and the process for input and output tell each other.

A frame is its length in four bytes, and a message in MessagePack.
"""

import enum
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

__all__ = [
    "Alive",
    "Answered",
    "Asked",
    "Begin",
    "Changed",
    "Current",
    "Follow",
    "FrameSocket",
    "FromEngine",
    "Lane",
    "Leave",
    "Listing",
    "Message",
    "Objects",
    "ToEngine",
    "Trouble",
]

_LENGTH: Final = struct.Struct("<I")
_MOST: Final = 1 << 20  # bytes to take from the socket at once


class Message(msgspec.Struct, array_like=True, tag=True):
    """Something that one process tells the other."""


class Lane(enum.StrEnum):
    """Requests that share connections and limits."""

    BIND = "bind"
    STATUS = "status"
    READ = "read"
    EVENT = "event"


class Begin(Message, kw_only=True):
    """The first message: how to reach the API server.

    Attributes:
        kubeconfig: The one kubeconfig file to read, if any.
        context: The context to take; empty: the current one.
        qps: How many requests a second may leave; 0 for as many as the server takes.
        burst: How many may leave at once.
    """

    kubeconfig: str | None = None
    context: str = ""
    qps: float = 0.0
    burst: int = 0


class Follow(Message):
    """Asks for the objects of a resource, and for what becomes of them.

    Attributes:
        resource: What messages about it call it.
        path: Its path, such as ``/api/v1/pods``.
    """

    resource: int
    path: str


class Asked(Message):
    """A request to be made.

    Attributes:
        call: What the answer calls it; 0 wants no answer.
        lane: The lane that it takes, see `Lane`.
        method: Such as ``POST``.
        target: The path with its query.
        body: What is sent.
        content_type: What the body is.
        key: What it is about; empty for nothing. Requests with one key leave one after
            the other.
        may_repeat: Whether it may be sent twice without harm.
        wants_body: Whether the content of a good answer is of use.
    """

    call: int
    lane: Lane
    method: str
    target: str
    body: bytes = b""
    content_type: str = "application/json"
    key: str = ""
    may_repeat: bool = False
    wants_body: bool = True


class Alive(Message):
    """The engine has taken a turn."""


class Leave(Message):
    """Asks the process to end, once what has been asked is answered.

    Attributes:
        seconds: For how long to wait for answers.
    """

    seconds: float


class Listing(Message):
    """A resource is listed anew: what follows is all there is."""

    resource: int


class Objects(Message):
    """Some of what there is, as the server gave it, in JSON."""

    resource: int
    texts: list[bytes]


class Current(Message):
    """All of it has been told.

    Attributes:
        version: As of which resource version.
    """

    resource: int
    version: str


class Changed(Message):
    """Changes as the watch gave them, in JSON: ``{"type": ..., "object": ...}``."""

    resource: int
    lines: list[bytes]


class Trouble(Message):
    """A resource cannot be followed right now; it is tried again.

    Attributes:
        why: The error.
    """

    resource: int
    why: str


class Answered(Message):
    """What came of a request.

    Attributes:
        call: Which one.
        code: The HTTP status; 0 if no answer came.
        body: The content of the answer, if anybody wants it.
        why: The error, if any.
        is_in_doubt: Whether it may have taken effect in spite of the error.
    """

    call: int
    code: int
    body: bytes = b""
    why: str = ""
    is_in_doubt: bool = False


FromEngine: TypeAlias = Begin | Follow | Asked | Alive | Leave
ToEngine: TypeAlias = Listing | Objects | Current | Changed | Trouble | Answered


class FrameSocket:
    """A socket that carries messages.

    Args:
        end: The socket. Any thread may send; one receives.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._encoder = msgspec.msgpack.Encoder()
        self._sending = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message.

        Raises:
            OSError: The other process is gone.
        """
        body = self._encoder.encode(message)
        with self._sending:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)

    def frames(self) -> Iterator[memoryview]:
        """The frames that arrive, until the other side closes."""
        buffer = bytearray()
        while data := self._received():
            buffer += data
            start = 0
            view = memoryview(bytes(buffer))
            while len(view) - start >= _LENGTH.size:
                end = start + _LENGTH.size + _LENGTH.unpack_from(view, start)[0]
                if end > len(view):
                    break
                yield view[start + _LENGTH.size : end]
                start = end
            del buffer[:start]

    def close(self) -> None:
        """Close the socket; whoever receives learns that it is over."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
        finally:
            self._socket.close()

    def _received(self) -> bytes:
        try:
            return self._socket.recv(_MOST)
        except OSError:
            return b""
