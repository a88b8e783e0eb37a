"""A socket that carries messages between the two processes.

A frame is a length of four bytes and a message in MessagePack. Queued messages are sent
with one system call, and all that have arrived are read with one. Each system call, and
each wake-up of the other process, costs more than the message itself.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.driver.frames import Message

__all__ = ["FrameError", "FrameSocket"]

_LENGTH: Final = struct.Struct("<I")
_NO_LENGTH: Final = bytes(_LENGTH.size)
_MOST: Final = 1 << 20  # bytes to read from the socket at once
_LARGEST: Final = 1 << 28  # bytes; responses of servers are far smaller
_MOST_PUT: Final = 1 << 16  # bytes that are queued

MessageT = TypeVar("MessageT")


class FrameError(QuaymasterError):
    """The received bytes are not a frame, or not a message of this protocol."""


class FrameSocket(Generic[MessageT]):
    """A socket that carries messages.

    Args:
        end: The socket. Any thread may send; one receives.
        decoder: Decodes the received messages.
    """

    def __init__(
        self, end: socket.socket, decoder: msgspec.msgpack.Decoder[MessageT]
    ) -> None:
        self._socket = end
        self._decode = decoder.decode
        self._encoder = msgspec.msgpack.Encoder()
        self._sending = threading.Lock()
        self._out = bytearray()
        self._buffer = memoryview(bytearray(_MOST))
        self._filled = 0

    def fileno(self) -> int:
        """The descriptor, for selectors."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send the queued messages and this one.

        Raises:
            OSError: The other process is gone.
        """
        with self._sending:
            self._put(message)
            self._flush()

    def put(self, message: Message) -> None:
        """Queue a message for the next `flush` or `send`, or until many are queued.

        Raises:
            OSError: The other process is gone.
        """
        with self._sending:
            self._put(message)
            if len(self._out) > _MOST_PUT:
                self._flush()

    def flush(self) -> None:
        """Send the queued messages.

        Raises:
            OSError: The other process is gone.
        """
        if self._out:
            with self._sending:
                self._flush()

    def received(self) -> list[MessageT] | None:
        """Wait until bytes arrive, and return the complete messages.

        Returns:
            The messages, none if only a part of one has arrived; None at the end.

        Raises:
            FrameError: They cannot be decoded.
        """
        try:
            count = self._socket.recv_into(self._buffer[self._filled :])
        except OSError:
            return None
        if not count:
            return None
        self._filled += count
        return self._taken()

    def messages(self) -> Iterator[MessageT]:
        """Yield the messages that arrive, until the other side closes.

        Raises:
            FrameError: They cannot be decoded.
        """
        while (some := self.received()) is not None:
            yield from some

    def close(self) -> None:
        """Close the socket; a thread that waits for messages returns."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
        finally:
            self._socket.close()

    def _put(self, message: Message) -> None:
        out = self._out
        start = len(out)
        out += _NO_LENGTH
        self._encoder.encode_into(message, out, -1)
        _LENGTH.pack_into(out, start, len(out) - start - _LENGTH.size)

    def _flush(self) -> None:
        out, self._out = self._out, bytearray()
        self._socket.sendall(out)

    def _taken(self) -> list[MessageT]:
        """Decode the complete messages of the buffer; the rest begins a frame."""
        buffer, start, end, messages = self._buffer, 0, self._filled, list[MessageT]()
        needed = _LENGTH.size
        while end - start >= needed:
            needed = _LENGTH.size + _LENGTH.unpack_from(buffer, start)[0]
            if needed > _LARGEST:
                raise FrameError(f"a frame of {needed} bytes")
            if end - start < needed:
                break
            messages.append(self._read(buffer[start + _LENGTH.size : start + needed]))
            start, needed = start + needed, _LENGTH.size
        self._filled = end - start
        if start or needed > len(buffer):
            # The rest moves to the start of a buffer that has room for the frame.
            rest = bytes(buffer[start:end])
            if needed > len(buffer):
                self._buffer = memoryview(bytearray(needed))
            self._buffer[: len(rest)] = rest
        return messages

    def _read(self, frame: memoryview) -> MessageT:
        try:
            return self._decode(frame)
        except msgspec.DecodeError as error:
            raise FrameError(f"an invalid message: {error}") from error
