"""The engine's end of the connection to the process for input and output."""

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
"""Runs the other process; the descriptor of its end of the socket is still to come."""


class Link:
    """Starts the process for input and output, and talks to it.

    Args:
        begin: How to reach the API server.
        receive: Takes each message, on a thread that does nothing else.
        ended: Called there, with why, when the other process is gone, or cannot be
            understood. There is no other one then: what is known of the cluster, and
            which calls are under way, is lost, and a new start reads it all again.
        program: What to run.

    Attributes:
        process: The id of the other process.
    """

    def __init__(
        self,
        begin: Begin,
        receive: Callable[[ToEngine], None],
        ended: Callable[[str], None],
        program: Sequence[str] = IO_PROGRAM,
    ) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                (*program, str(theirs.fileno())), pass_fds=(theirs.fileno(),)
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
        """Have what this thread sends leave together, if it sends much.

        What comes after a quiet moment leaves at once, so that nothing waits for a
        decision that takes long.

        Args:
            clock: Its timers run on this thread.
        """
        self._clock, self._gathering = clock, threading.get_ident()

    def send(self, message: Message) -> None:
        """Tell the other process something; if it is gone, `ended` says so."""
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
        """Let everything leave that was told so far."""
        self._is_due = False
        self._sent_at = time.monotonic()
        with contextlib.suppress(OSError):
            self._frames.flush()

    def close(self) -> None:
        """End the other process, and the thread that listens to it."""
        self._end()
        # Identity: whoever is told of the end by the listener may close it, too.
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
            why = f"the process for input and output sends {error}"
        else:
            why = "the process for input and output has ended"
        self._end()
        code = self._process.returncode
        self._ended(f"{why} (by signal {-code})" if code < 0 else f"{why} ({code})")
