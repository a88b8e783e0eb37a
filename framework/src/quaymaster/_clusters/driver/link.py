"""The engine's end of the connection to the I/O process."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from quaymaster._clusters.driver.frame_socket import FrameError, FrameSocket
from quaymaster._clusters.driver.frames import Begin, Message, ToEngine
from quaymaster._core.contract.clock import Clock

__all__ = ["IO_PROGRAM", "Link"]

_MESSAGES: Final[msgspec.msgpack.Decoder[ToEngine]] = msgspec.msgpack.Decoder(ToEngine)
_SECONDS_TO_END: Final = 5.0
_SECONDS_TO_GATHER: Final = 0.001  # several turns of a busy engine

IO_PROGRAM: Final = (sys.executable, "-m", "quaymaster._clusters.driver.io_process")
"""The command of the I/O process, without its argument: the socket's descriptor."""


class Link:
    """Starts the I/O process, and exchanges messages with it.

    Args:
        begin: How to reach the API server.
        receive: Receives each message, on a separate thread.
        ended: Called on that thread with the reason, when the I/O process has ended or
            sends an invalid message. It is not started again, because it would not
            have the sent versions and the calls in flight; the scheduler must restart.
        program: The command to run.
        inherited: Further descriptors that the process inherits.

    Attributes:
        process: The id of the I/O process.
    """

    def __init__(
        self,
        begin: Begin,
        receive: Callable[[ToEngine], None],
        ended: Callable[[str], None],
        program: Sequence[str] = IO_PROGRAM,
        *,
        inherited: Sequence[int] = (),
    ) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                (*program, str(theirs.fileno())), pass_fds=(theirs.fileno(), *inherited)
            )
        self.process = self._process.pid
        self._frames = FrameSocket(ours, _MESSAGES)
        self._clock: Clock | None = None
        self._gathering = 0
        self._is_due = False
        self._sent_at = 0.0
        self._receive = receive
        self._ended = ended
        self.send(begin)
        self._listener = threading.Thread(target=self._listen, name="link", daemon=True)
        self._listener.start()

    def gather(self, clock: Clock) -> None:
        """Send the messages of this thread in batches, if there are many.

        A message after a quiet millisecond is sent at once, so that it does not wait
        for a long decision.

        Args:
            clock: The clock whose timers run on this thread.
        """
        self._clock, self._gathering = clock, threading.get_ident()

    def send(self, message: Message) -> None:
        """Send a message; if the other process has ended, `ended` is called."""
        with contextlib.suppress(OSError):
            if self._clock is None or threading.get_ident() != self._gathering:
                self._frames.send(message)
                return
            now = time.monotonic()
            if now - self._sent_at > _SECONDS_TO_GATHER:
                self._sent_at = now
                self._frames.send(message)
                return
            self._frames.put(message)
            if not self._is_due:
                self._is_due = True
                self._clock.call_later(_SECONDS_TO_GATHER, self.flush, background=True)

    def flush(self) -> None:
        """Send all messages that wait."""
        self._is_due = False
        self._sent_at = time.monotonic()
        with contextlib.suppress(OSError):
            self._frames.flush()

    def close(self) -> None:
        """End the I/O process, and the thread that reads its messages."""
        self._end()
        # Identity: `ended` may call this on the listener, which cannot join itself.
        if threading.current_thread() is not self._listener:
            self._listener.join(_SECONDS_TO_END)

    def _end(self) -> None:
        self._frames.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        try:
            for message in self._frames.messages():
                self._receive(message)
        except FrameError as error:
            why = f"the I/O process sent {error}"
        else:
            why = "the I/O process has ended"
        self._end()
        code = self._process.returncode
        self._ended(f"{why} (by signal {-code})" if code < 0 else f"{why} ({code})")
