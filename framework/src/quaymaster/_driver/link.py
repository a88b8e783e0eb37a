"""The engine's end of the connection to the process for input and output."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from quaymaster._driver.frames import (
    Begin,
    FrameError,
    FrameSocket,
    Message,
    ToEngine,
)

__all__ = ["IO_PROGRAM", "Link"]

_MESSAGES: Final[msgspec.msgpack.Decoder[ToEngine]] = msgspec.msgpack.Decoder(ToEngine)
_SECONDS_TO_END: Final = 5.0

IO_PROGRAM: Final = (sys.executable, "-m", "quaymaster._driver.io_process")
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
        self._frames = FrameSocket(ours)
        self._receive = receive
        self._ended = ended
        self.send(begin)
        threading.Thread(target=self._listen, name="link", daemon=True).start()

    def send(self, message: Message) -> None:
        """Tell the other process something; if it is gone, `ended` says so."""
        try:
            self._frames.send(message)
        except OSError:
            return

    def close(self) -> None:
        """End the other process."""
        self._frames.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        try:
            for message in self._frames.messages(_MESSAGES):
                self._receive(message)
        except FrameError as error:
            why = f"the process for input and output sends {error}"
        else:
            why = "the process for input and output has ended"
        self.close()
        code = self._process.returncode
        self._ended(f"{why} (by signal {-code})" if code < 0 else f"{why} ({code})")
