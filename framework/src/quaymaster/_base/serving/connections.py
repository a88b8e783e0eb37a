"""Open connections; each is read on its own thread, so a silent one delays no other."""

import io
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final

__all__ = ["Connections", "TimedReader", "most_connections", "send_parts"]

# Chosen, not measured: far more clients than a cluster has schedulers.
_MOST: Final = 1024
_OTHER_FILES: Final = 64  # that the process has open besides connections
# Connections that were ended, and that their threads may not have closed yet.
_MOST_ENDING: Final = 16
_SECONDS_TO_END: Final = 0.1  # a thread takes far less, unless it is busy
# Chosen, not measured: a body of this size is read by one call of the kernel.
_LARGE: Final = 1 << 17
_PARTS_AT_ONCE: Final = 1024  # IOV_MAX of Linux: `sendmsg` takes no more
# Chosen, not measured: in 30 s, the kernel's deadline is set some 20 times at most.
_STALE: Final = 0.9


class TimedReader(io.RawIOBase):
    """Reads a socket up to a deadline, however slowly its bytes come.

    Reading a large piece may take up to a tenth longer than the remaining time.

    Args:
        connection: The socket.

    Attributes:
        deadline: When reading ends, by `time.monotonic`.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.deadline = 0.0
        self._fills_buffers = _is_left_to_kernel(connection)
        self._kernel_seconds = 0.0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]  # any buffer in the base
        """Read what has arrived into a buffer; return its length, 0 at the end.

        Raises:
            TimeoutError: The deadline has passed.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if self._fills_buffers and len(buffer) >= _LARGE:
            return self._fill(buffer, left)
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)

    def _fill(self, buffer: "memoryview | bytearray", seconds: float) -> int:
        connection = self._connection
        if connection.gettimeout() is not None:
            connection.settimeout(None)
        # Large requests come in many pieces: do not set the kernel's deadline for each.
        if not _STALE * self._kernel_seconds < seconds <= self._kernel_seconds:
            limit = _timeval(seconds)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
            self._kernel_seconds = seconds
        try:
            return connection.recv_into(buffer, 0, socket.MSG_WAITALL)
        except BlockingIOError as error:
            raise TimeoutError from error


def most_connections(most: int = _MOST, *, pending: int = 0) -> int:
    """Return how many connections may be open: fewer than files may be (Unix).

    Args:
        most: The most, whatever the number of files.
        pending: How many connections may be open besides.
    """
    try:
        import resource  # noqa: PLC0415 - Unix only
    except ImportError:
        return most
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return most
    return max(min(most, files - _OTHER_FILES - pending, files * 3 // 4), 1)


class Connections:
    """Tracks the open connections, and can close them.

    If there are too many, the one that has been idle for longest is closed.

    Args:
        most: The most connections.
    """

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._has_ended = threading.Condition(self._lock)
        self._most = most
        self._idle: dict[socket.socket, None] = {}
        self._busy: set[socket.socket] = set()
        self._ending: set[socket.socket] = set()

    def add(self, connection: socket.socket) -> None:
        """Add a new connection.

        A burst of connections waits here until the threads of those that make room
        have closed them.
        """
        with self._lock:
            self._has_ended.wait_for(self._may_end_another, _SECONDS_TO_END)
            self._idle[connection] = None
            if len(self._idle) + len(self._busy) > self._most:
                first = next(iter(self._idle))
                del self._idle[first]
                self._ending.add(first)
                _hang_up(first)

    def _may_end_another(self) -> bool:
        return len(self._ending) < _MOST_ENDING

    def set_busy(self, connection: socket.socket, is_busy: bool) -> None:
        """Record whether a connection has a request in progress."""
        with self._lock:
            if connection in self._ending:
                return
            if is_busy:
                self._idle.pop(connection, None)
                self._busy.add(connection)
            else:
                self._busy.discard(connection)
                self._idle[connection] = None

    def remove(self, connection: socket.socket) -> None:
        """Remove a closed connection."""
        with self._lock:
            self._idle.pop(connection, None)
            self._busy.discard(connection)
            self._ending.discard(connection)
            self._has_ended.notify()

    def hang_up(self) -> None:
        """End all connections: their threads read the end of the stream."""
        with self._lock:
            for connection in (*self._idle, *self._busy):
                _hang_up(connection)


def send_parts(
    connection: socket.socket, parts: Sequence[bytes | memoryview], seconds: float
) -> None:
    """Send the parts of a body without copying them together.

    Args:
        connection: The socket.
        parts: The bytes, in parts.
        seconds: How long the other side may take to accept more bytes.

    Raises:
        TimeoutError: The other side took longer.
    """
    if not _is_left_to_kernel(connection):
        connection.settimeout(seconds)
        connection.sendall(b"".join(parts))
        return
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _timeval(seconds))
    for first in range(0, len(parts), _PARTS_AT_ONCE):
        batch = parts[first : first + _PARTS_AT_ONCE]
        try:
            sent = connection.sendmsg(batch)
        except BlockingIOError as error:
            raise TimeoutError from error
        if sent < sum(map(len, batch)):
            raise TimeoutError


def _is_left_to_kernel(connection: socket.socket) -> bool:
    """Return whether the kernel can send and fill large buffers within the deadline.

    Then Python does not run for each packet. For megabytes of nodes, that would be the
    slowest step, and would delay the thread that computes answers.
    """
    return sys.platform == "linux" and not isinstance(connection, ssl.SSLSocket)


def _timeval(seconds: float) -> bytes:
    whole = int(seconds)
    # 1 µs more, as 0 would mean no deadline.
    return struct.pack("ll", whole, int((seconds - whole) * 1e6) + 1)


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
